"""Arguments that Argo does not give to a program as they are."""

from flowdsl import command, container, pipeline


@container(image="trainer:2.4.0")
def report(text: str) -> None:
    command("/bin/report", "--text", text)


@pipeline
def nightly() -> None:
    report("lorem ipsum " * 20_000)
