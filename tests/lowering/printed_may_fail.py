"""What a call that may fail is given is a constant, where another call of the same step is given a value."""

from flowdsl import command, container, on_exit, pipeline


@container(image="busybox:1.37.0")
def say(text: str) -> str:
    return command("echo", text, stdout=True)


@pipeline
def greetings(name: str = "you") -> None:
    said = say(name)
    with on_exit(said):
        say.options(name="bye", may_fail=True)("bye")
    say.options(name="again")(said)
