"""An http step that says nothing."""

from flowdsl import http, pipeline


@http()
def notify(text: str) -> None:
    print("https://chat.example.com", text)


@pipeline
def nightly(text: str = "started") -> None:
    notify(text)
