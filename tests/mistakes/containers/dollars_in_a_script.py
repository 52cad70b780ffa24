"""The number of a shell's process, which Kubernetes would replace."""

from flowdsl import command, container, pipeline


@container(image="bash:5.2")
def report(name: str) -> None:
    command("bash", source='echo "$NAME" > /tmp/"$$".txt', env={"NAME": name})


@pipeline
def nightly(name: str = "you") -> None:
    report(name)
