"""Text of scripts that would be run as code, or would not arrive as it is written."""

from flowdsl import command, container, pipeline


@container(image="bash:5.2")
def greet(name: str) -> None:
    command("bash", source=f"echo Hello {name}")


@container(image="bash:5.2")
def report(name: str) -> None:
    command("bash", source='echo "$NAME" > /tmp/$$.txt\necho {{workflow.name}} $(ARGO_POD_NAME)', env={"NAME": name})


@container(image="bash:5.2")
def bell() -> None:
    command("bash", source="echo \a")


@pipeline
def nightly(name: str = "you") -> None:
    greet(name)
    report(name)
    bell()
