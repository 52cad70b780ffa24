"""A script so large that every pod needs a ConfigMap for it."""

from flowdsl import command, container, pipeline


@container(image="bash:5.2")
def count() -> None:
    command("bash", source="date +%N\n" * 20_000)


@pipeline
def nightly() -> None:
    count()
