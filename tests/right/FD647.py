from flowdsl import command, container, pipeline

VERBOSE = True


@container(image="busybox:1.37.0")
def greet(name: str) -> None:
    command("sh", "-c", 'echo hello "$NAME" && echo goodbye "$NAME"', env={"NAME": name})


@container(image="busybox:1.37.0")
def part(name: str) -> None:
    if VERBOSE:
        command("echo", "goodbye", name)
    command("true")


@pipeline
def nightly() -> None:
    greet("world")
    part("world")
