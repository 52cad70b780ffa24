"""Inputs as keys, where their names are meant, or where they cannot stand."""

from pathlib import Path

from flowdsl import Volume, command, container, http, manifest, pipeline, request, resource


@container(image="busybox:1.37.0")
def clean(raw: Path, level: int) -> Path:
    return command("clean", paths={raw: "/raw.txt", "return": "/clean.txt"}, env={level: "LEVEL"})


@http()
def notify(name: str) -> str:
    return request("POST", "https://example.com", headers={name: "a"}, body={name: 1})


@resource("create")
def note(name: str) -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}, "data": {name: "a"}})


@pipeline
def nightly() -> None:
    clean(Volume("data") / "raw", 1)
    notify("a")
    note("a")
