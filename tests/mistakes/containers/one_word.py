"""Command lines in one word, with inputs and outputs in them, and one without a program."""

from flowdsl import command, container, output, pipeline


@container(image="trainer:1")
def fit(rate: float, layers: int) -> str:
    return command(f"/bin/fit --rate {rate} --layers={layers} {output()}")


@container(image="trainer:1")
def count(least: int) -> int:
    return command(f"/bin/count {least} | sort > {output()}")


@container(image="trainer:1")
def clean() -> None:
    return command("rm -r /tmp/x && sync")


@container(image="trainer:1")
def tested(rate: float) -> None:
    command("python test.py", "--rate", rate)


@container(image="trainer:1")
def unnamed(rate: float) -> None:
    command("", "--rate", rate)


@pipeline
def nightly() -> None:
    fit(0.1, 2)
    count(3)
    clean()
    tested(0.1)
    unnamed(0.1)
