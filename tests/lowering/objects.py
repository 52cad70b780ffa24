"""Objects of the cluster: made and waited for, read, patched, deleted; from a dict, a text and a file."""

from enum import Enum
from pathlib import Path
from typing import Literal, NamedTuple

from flowdsl import fan_out, manifest, pipeline, resource, run, step, when


class Mode(Enum):
    FAST = 1


class Made(NamedTuple):
    uid: str
    succeeded: int


@resource("apply", success="status.succeeded == 4", failure="status.failed > 0", owner=True, timeout="6h", retries=2, where="not spot")
def train(name: str, rate: float, workers: int, notes: dict[str, int], mode: Mode, size: Literal["s", "l"], debug: bool) -> Made:
    container = {
        "name": "main",
        "image": "trainer:2",
        "args": ["--rate", f"{rate}", f"--name={name}", "{{literal}}", "$(POD_NAME)", "$$", 'say "hi"\n'],
        "env": [{"name": "NOTE", "value": name}],
    }
    return manifest(
        {
            "apiVersion": "example.com/v1",
            "kind": "Training",
            "metadata": {"name": f"{run.name}-train", "labels": {"mode": mode, "shape": f"{mode}-{size}", "by": name}},
            "spec": {
                "completions": workers,
                "parallelism": workers,
                "suspend": debug,
                "template": {"spec": {"containers": [container], "notes": notes, "half": 0.5, "none": None}},
            },
        },
        outputs={"uid": "{.metadata.uid}", "succeeded": ".status.succeeded"},
    )


@resource("create")
def settings(text: str) -> str:
    return manifest(
        f"""
        apiVersion: v1
        kind: ConfigMap
        metadata:
          generateName: settings-
        data:
          text: {text}
          line: 'of {text}, {run.name}'
          date: 2026-01-01
          number: "1"
        """,
        "{.metadata.name}",
    )


@resource("patch", merge="merge")
def label(name: str, value: str) -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"value": value}}})


@resource("patch", merge="json", flags=["deployment", "server"])
def scale(replicas: int) -> None:
    manifest([{"op": "replace", "path": "/spec/replicas", "value": replicas + 1}])


@resource("get", success="status.phase in (Active, Ready)")
def read(name: str) -> dict[str, str]:
    return manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}, ".data")


@resource("delete", flags=["--wait=false"])
def drop() -> None:
    manifest(
        """
        # the old one
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: old}
        """
    )


@resource("create", owner=True)
def keep() -> None:
    manifest(
        """
        # written anew: it has an owner
        apiVersion: v1
        kind: ConfigMap
        metadata:
          generateName: kept-
          ownerReferences:
          - {apiVersion: v1, kind: ConfigMap, name: first, uid: "1"}
        """
    )


@resource("create", owner=True)
def hidden(metadata: dict[str, str]) -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})


@resource("apply")
def apply(objects: Path) -> None:
    manifest(objects)


@step(image="python:3.12-slim")
def write(data: dict[str, str]) -> Path:
    objects = Path("objects.yaml")
    objects.write_text(str(data))
    return objects


@pipeline
def objects(name: str = 'a "b" $d') -> str:
    made = train(name, 1e-5, 4, {"a": 1}, Mode.FAST, "s", False)
    with when(made.succeeded > 3):
        found = settings(name)
        label(found, made.uid)
    data = read.options(timeout="5m")("settings")
    apply(write(data))
    fan_out(settings, over={"text": ["a", "b"]})
    scale(made.succeeded)
    keep()
    hidden({"generateName": made.uid})
    drop.options(after=[data])()
    return data["text"]
