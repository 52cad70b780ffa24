"""A step on a node with Windows."""

from flowdsl import command, container, pipeline


@container(image="mcr.microsoft.com/windows/nanoserver:1809", node={"kubernetes.io/os": "windows"})
def hello_win() -> None:
    command("cmd", "/c", "echo", "Hello from Windows Container!")


@pipeline
def hello_windows() -> None:
    hello_win()
