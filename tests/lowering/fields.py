"""Fields and elements of inputs, where a step says what it does."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import command, container, http, manifest, output, pipeline, request, resource, step


class Plain(NamedTuple):
    count: int
    names: list[str]


class Stored(NamedTuple):
    model: Path
    count: int
    note: str
    table: dict[str, str]


@step(image="python:3.12-slim")
def plain() -> Plain:
    return Plain(1, ["x"])


@step(image="python:3.12-slim")
def stored() -> Stored:
    return Stored(Path("model"), 1, "a", {"z": "b"})


@container(image="alpine:3.20")
def show(one: Stored, two: Plain, table: dict[str, str]) -> str:
    fields = (one.model, one.count, one.note, f"{one.note}/{one.count}", one.table["z"])
    return command("show", *fields, two.count, two.names[0], table["x"], output(), env={"NOTE": one.note})


@http()
def send(one: Plain) -> None:
    request("POST", f"https://example.com/{one.count}/{one.names[0]}", body={"one": one, "names": one.names})


@resource("apply")
def store(one: Plain, several: list[Plain]) -> None:
    data = {"one": one, "count": one.count, "text": f"{one.count} {one.names[0]}", "several": several}
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})


@pipeline
def fields() -> None:
    one = plain()
    show(stored(), one, {"x": "1"})
    send(one)
    store(one, [one, Plain(2, ["y"])])
