"""Results that are not read off an object as they are annotated."""

from typing import NamedTuple

from flowdsl import manifest, pipeline, resource

SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}


class Found(NamedTuple):
    uid: str
    version: int


@resource("get")
def nothing_said() -> str:
    return manifest(SETTINGS)


@resource("get")
def misspelt() -> Found:
    return manifest(SETTINGS, outputs={"uid": "{.metadata.uid", "versoin": "{.metadata.resourceVersion}"})


@resource("get")
def which() -> Found:
    return manifest(SETTINGS, "{.metadata.uid}")


@resource("delete")
def gone() -> str:
    return manifest(SETTINGS, "{.metadata.uid}")


@resource("apply")
def unread() -> None:
    return manifest(SETTINGS, "{.metadata.uid}")


@resource("get")
def several() -> list[str]:
    return manifest(SETTINGS, "{.metadata.ownerReferences[*].name}")


@resource("get")
def empty() -> str:
    return manifest(SETTINGS, "")


@resource("get")
def tagged() -> str:
    return manifest(SETTINGS, "{{.metadata.uid}}")


@resource("get")
def open_end() -> str:
    return manifest(SETTINGS, "{.metadata}.uid")


@resource("get")
def unlisted() -> Found:
    return manifest(SETTINGS, outputs="{.metadata.uid}")


@pipeline
def nightly() -> None:
    nothing_said()
    misspelt()
    which()
    gone()
    unread()
    several()
    empty()
    tagged()
    open_end()
    unlisted()
