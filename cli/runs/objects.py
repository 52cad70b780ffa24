"""Reads ConfigMaps and Secrets from YAML files, as `kubectl apply` takes them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.cli.pipelines.compiling import MANIFESTS, parted
from flowdsl.compiler.tree import is_mapping
from flowdsl.grammar.reason import said
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.parts import name_of, part

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Json = dict[str, Any]

KINDS = {"--config-map": "ConfigMap", "--secret": "Secret"}


def given(targets: Iterable[str], option: str, said_already: Sequence[str]) -> list[str]:
    """The objects in files for an option, each as NAME=PATH, except those already given to it."""
    known = {one.partition("=")[0] for one in said_already}
    found: dict[str, str] = {}
    for target in targets:
        path = parted(Path(target))[0]
        for one in _objects(path):
            name = name_of(one)
            if one["kind"] == KINDS[option] and name and name not in known:
                found.setdefault(name, f"{name}={path.resolve()}")
    return list(found.values())


def data(path: Path, name: str, option: str) -> dict[str, str] | None:
    """The data of an object in a file; None if the file has no objects. Raises RunError."""
    objects = _objects(path)
    if not objects:
        return None
    kind = KINDS[option]
    one = next((each for each in objects if (each["kind"], name_of(each)) == (kind, name)), None)
    if one is None:
        there = ", ".join(f"{each['kind']} `{name_of(each)}`" for each in objects)
        raise RunError(f"{option} {name}={path}: there is no {kind} `{name}` in that file; there is {there}")
    found = dict(part(one, "data"))
    try:
        if option == "--secret":
            found = {key: base64.b64decode(value, validate=True).decode() for key, value in found.items()}
            found |= part(one, "stringData")
    except (ValueError, TypeError) as error:
        raise RunError(f"{option} {name}={path}: its `data` is not base64 text: {said(error)}") from None
    for key, value in found.items():
        if not isinstance(value, str):
            raise RunError(f"{option} {name}={path}: `{key}` is not a text: put it in quotes")
    return found


def _objects(path: Path) -> list[Json]:
    """The Kubernetes objects in a YAML or JSON file; none in any other file."""
    if path.suffix not in MANIFESTS or not path.is_file():
        return []
    import yaml

    try:
        documents: list[Any] = list(yaml.safe_load_all(path.read_bytes()))
    except (OSError, ValueError, yaml.YAMLError):
        return []
    return [one for one in documents if is_mapping(one) and "kind" in one and "apiVersion" in one]
