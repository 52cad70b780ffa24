"""Words that describe steps, called with too much or too little."""

from flowdsl import command, container, http, manifest, pipeline, request, resource


@container(image="busybox:1.37.0")
def greet(name: str) -> None:
    command("echo", name, environment={"LOUD": "1"})


@container(image="busybox:1.37.0")
def shout(name: str) -> None:
    command("echo", nmae)


@resource("apply")
def settings() -> None:
    manifest()


@http()
def notify() -> str:
    return request("GET")


@http()
def ask() -> str:
    return request("https://example.com", method="GET")


@pipeline
def nightly() -> None:
    greet("world")
    shout("world")
    settings()
    notify()
    ask()
