from flowdsl import command, container, pipeline


@container(image="alpine:3.20")
def greet(name: str) -> None:
    command("sh", "-c", 'echo "$THE_NAME"', env={"THE_NAME": name})


@pipeline
def nightly(name: str = "world") -> None:
    greet(name)
