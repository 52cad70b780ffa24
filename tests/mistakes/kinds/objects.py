"""Objects that the cluster would not take."""

from pathlib import Path

from flowdsl import manifest, pipeline, resource, step


@resource("apply", owner=True)
def unnamed(name: str) -> None:
    manifest({"kind": "Job", "metadata": {"generateName": name, "namespace": "other"}})


@resource("create")
def two(name: str) -> None:
    manifest(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n---\nkind: Secret\n")


@resource("create")
def broken(name: str) -> None:
    manifest(f"apiVersion: v1\nkind: ConfigMap\n  metadata: {name}")


@resource("patch", merge="json")
def change(name: str) -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})


@resource("apply")
def odd(name: str, key: str) -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, f"{key}": 1j}})


@resource("apply", owner=True)
def stored(objects: Path, name: str) -> None:
    manifest(objects)


@resource("apply")
def mixed(objects: Path) -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"file": objects}})


@resource("apply")
def whole(name: str) -> None:
    manifest(name)


@resource("apply")
def nothing() -> None:
    manifest("")


@resource("apply")
def listed() -> None:
    manifest([{"kind": "ConfigMap"}])


@resource("apply")
def numbered() -> None:
    manifest({"apiVersion": "v1", "kind": 3, "metadata": {}})


@step(image="python:3.12-slim")
def write() -> Path:
    return Path("objects.yaml")


@pipeline
def nightly(name: str = "x") -> None:
    unnamed(name)
    two(name)
    broken(name)
    change(name)
    odd(name, name)
    made = write()
    stored(made, name)
    mixed(made)
    whole(name)
    nothing()
    listed()
    numbered()
