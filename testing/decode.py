"""Converts the outputs of a run to values of the types that its functions return."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.local.places import unpacked
from flowdsl.runtime.local.rounds import INDEX
from flowdsl.runtime.parts import several
from flowdsl.testing.error import IS_TOLD, RunFailed
from flowdsl.values import types as t
from flowdsl.values.texts import WrongValue, as_sent, decoded, rebuilt

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from flowdsl.runtime.local.places import Files

__tracebackhide__ = IS_TOLD
Json = dict[str, Any]


class _Ports(NamedTuple):
    """The outputs of a node, by name."""

    texts: dict[str, str]
    artifacts: dict[str, Json]
    files: Files

    def has(self, name: str) -> bool:
        """Whether there is an output of this name, or a part of one."""
        return any(one == name or one.startswith(f"{name}-") for one in (*self.texts, *self.artifacts))


def returned(outputs: Json | None, kind: t.Type, files: Files) -> Any:
    """The value that a step or pipeline returned. Raises RunFailed if it is missing."""
    texts = {one["name"]: str(one["value"]) for one in several(outputs, "parameters") if "value" in one}
    ports = _Ports(texts, {one["name"]: one for one in several(outputs, "artifacts")}, files)
    if isinstance(kind, t.Nothing):
        return None
    found = {one.keys: _value(one.name, one.type, ports) for one in t.outputs(kind)}
    return t.assembled(kind, found, _record)


def _record(kind: t.Record | t.Fixed, parts: list[Any]) -> Any:
    if isinstance(kind, t.Fixed):
        return tuple(parts)
    names = (field.name for field in kind.fields)
    return as_sent(kind.cls, dict(zip(names, parts, strict=True)))


def _value(name: str, kind: t.Type, ports: _Ports) -> Any:
    """The value of an output, or of a part of one."""
    text = ports.texts.get(name)
    try:
        if isinstance(kind, t.Sequence) and text is not None and INDEX in text:
            return [_row(one, kind.item, ports.files) for one in json.loads(text)]
        if not t.holds_file(kind):
            if text is None:
                raise RunFailed(f"the output `{name}` is not there")
            return decoded(text, kind)
    except WrongValue as wrong:
        raise RunFailed(f"the output `{name}` is no {t.spell(kind)}: {text!r}: {wrong}") from None
    match kind:
        case t.File():
            found = _file(name, ports)
            if found is None:
                raise RunFailed(f"the file of the output `{name}` is not there")
            return found
        case t.Maybe(item):
            if isinstance(item, t.File):
                return _file(name, ports)
            return _value(name, item, ports) if ports.has(name) else None
        case t.Record(cls, fields):
            plain: Json = json.loads(text) if text else {}
            parts = {
                one.name: rebuilt(plain[one.name], one.type)
                if one.name in plain and not t.holds_file(one.type)
                else _value(f"{name}-{one.name}", one.type, ports)
                for one in fields
            }
            return as_sent(cls, parts)
        case t.Fixed(items):
            return tuple(_value(f"{name}-{at}", one, ports) for at, one in enumerate(items))
        case t.Sequence() | t.Mapping() if (folder := _file(name, ports)) is not None:
            return _unfolded(folder, kind)
        case t.Sequence(item):
            names = map(f"{name}-{{}}".format, itertools.count())
            return [_value(one, item, ports) for one in itertools.takewhile(ports.has, names)]
        case _:
            raise RunFailed(f"the output `{name}` is {t.spell(kind)}: its files are in {ports.files.folder}")


def _unfolded(folder: Path, kind: t.Sequence | t.Mapping) -> Any:
    """A list or dict of files, stored as one folder: see the readers of folders and bundles in compiler/ports.py."""
    entries = folder.iterdir() if folder.is_dir() else ()
    if not isinstance(kind.item, t.File):
        text = (folder / "value.json").read_text(encoding="utf-8")
        return rebuilt(json.loads(text), kind, files=folder)
    if isinstance(kind, t.Mapping):
        return {one.name: one for one in sorted(entries)}
    return sorted(entries, key=lambda one: int(one.name.partition("-")[0]))


def _file(name: str, ports: _Ports) -> Path | None:
    artifact = ports.artifacts.get(name)
    found = unpacked(artifact, ports.files.folder) if artifact is not None else None
    if found is None and name in ports.texts:
        found = ports.files.of_text(ports.texts[name])
    return found


def _row(row: Mapping[str, str], kind: t.Type, files: Files) -> Any:
    """The value that one round of a loop returned."""
    outputs: Json = {"parameters": [{"name": name, "value": text} for name, text in row.items()]}
    return returned(outputs, kind, files)
