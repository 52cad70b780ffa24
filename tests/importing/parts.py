"""The pipeline `parts`."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Raw, command, container, fan_out, pipeline, when


class RowsItem(NamedTuple):
    rows: str
    name: str


@container(image="busybox:1.37.0", archive="none")
def make() -> Path:
    return command(
        "sh",
        "-c",
        "mkdir -p /tmp/parts-folder; cd /tmp/parts-folder; echo hello > en.txt; echo hallo > de.txt",
        paths={"return": "/tmp/parts-folder"},
    )


@container(image="busybox:1.37.0")
def read(some_text: Path) -> None:
    command("cat", "/tmp/text", paths={"some_text": "/tmp/text"})


@container(image="python:3.12-slim")
def list_() -> list[str]:
    source = """
        print('["a", "b"]')
    """
    return command("python3", source=source, stdout=True)


@pipeline
def listed_each(item: str) -> None:
    read.options(name="listed")(some_text=Raw(f"the shard {item}\n"))


@pipeline
def written_each(item: str, language: str) -> None:
    read.options(name="written")(some_text=Raw(f"the shard {item} in {language}\n"))


@container(image="busybox:1.37.0")
def join(rows: str, text: Path) -> None:
    source = """
        cat /tmp/text
        echo $ROWS
    """
    command("sh", source=source, env={"ROWS": rows}, paths={"text": "/tmp/text"})


@pipeline
def rows_each(item: RowsItem) -> None:
    join.options(name="rows")(rows=item.rows, text=Raw(f"the shard {item.name}\n"))


@pipeline
def counted_each(item: str) -> None:
    read.options(name="counted")(some_text=Raw(f"number {item}\n"))


@pipeline(
    argo={
        "templates": [
            {
                "name": "parts",
                "dag": {
                    "tasks": [
                        {
                            "name": "first",
                            "arguments": {
                                "artifacts": [
                                    {"name": "some_text", "subPath": "en.txt"},
                                ],
                            },
                        },
                        {
                            "name": "second",
                            "arguments": {
                                "artifacts": [
                                    {
                                        "name": "some_text",
                                        "subPath": "{{workflow.parameters.language}}.txt",
                                    },
                                ],
                            },
                        },
                    ],
                },
            },
        ],
    },
)
def parts(language: str = "de") -> None:
    make_ = make()
    read.options(name="first")(some_text=make_)
    with when(language == "de"):
        read.options(name="second")(some_text=make_)
    list_2 = list_.options(name="list")()
    fan_out(listed_each.options(name="listed"), over={"item": list_2})
    fan_out(
        written_each.options(name="written"),
        over={"item": ["a", "b"]},
        language=language,
    )
    fan_out(
        rows_each.options(name="rows"),
        over={"item": [RowsItem(rows="3", name="a"), RowsItem(rows="4", name="b")]},
    )
    fan_out(counted_each.options(name="counted"), over={"item": ["2", "3"]})
