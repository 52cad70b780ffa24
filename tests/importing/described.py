"""The pipeline `described`.

Compile it with `flowdsl compile FILE --as template`.
"""

from flowdsl import command, container, pipeline

DESCRIBED_DESCRIPTION = """\
Shows an object.

It has a "name", and `fields`.
"""
DESCRIBED_NAME_DESCRIPTION = """\
The name of the object.
It is unique.
"""


@container(image="busybox:1.37.0")
def show(object: str, type: str, type_: str) -> None:
    command("echo", object, type, type_)


@pipeline(
    annotations={
        "example.com/title": "Shows an object",
        "example.com/description": DESCRIBED_DESCRIPTION,
    },
    argo={
        "arguments": {
            "parameters": [{"name": "name", "description": DESCRIBED_NAME_DESCRIPTION}],
        },
    },
)
def described(name: str = "first") -> None:
    show(object=name, type="short", type_="long")
