"""The pipeline `described`.

Compile it with `flowdsl compile FILE --as template`.
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
def show(object: str, type: str, type_: str) -> None:
    command("echo", object, type, type_)


@pipeline(
    annotations={
        "example.com/title": "Shows an object",
        "example.com/description": DESCRIBED_DESCRIPTION,
    },
)
def described(name: Annotated[str, NAME_DESCRIPTION] = "first") -> None:
    show(object=name, type="short", type_="long")
