"""The pipelines `described`, `described_nightly`.

Compile `described` with `flowdsl compile FILE:described --as template`.
Compile `described_nightly` with `flowdsl compile FILE:described_nightly`.
"""

from typing import Annotated

from flowdsl import command, container, pipeline

NAME_DESCRIPTION = """\
The name of the object.
It is unique.
"""
DESCRIBED_DESCRIPTION = """\
Shows an object.

It has a "name", and `fields`.
"""


@container(image="busybox:1.37.0")
def show(
    object: Annotated[str, "What is shown."],
    type: str,
    type_: Annotated[str, '"short" or "long"'] = "long",
) -> None:
    command("echo", object, type, type_)


@pipeline
def aside(object: Annotated[str, "What is shown beside it."]) -> None:
    show(object=object, type="short")


@pipeline(
    annotations={
        "example.com/title": "Shows an object",
        "example.com/description": DESCRIBED_DESCRIPTION,
    },
)
def described(name: Annotated[str, NAME_DESCRIPTION] = "first") -> None:
    aside(object="second")
    show(object=name, type="short", type_="long")


@container(image="busybox:1.37.0")
def say(text: str) -> None:
    command("echo", text)


@pipeline(schedule="0 3 * * *")
def described_nightly(text: Annotated[str, "Whom it greets."] = "hello") -> None:
    say(text=text)
