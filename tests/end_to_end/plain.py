"""The steps of a pipeline as the functions they are, and whether a run gave what they give."""

from __future__ import annotations

import contextlib
import enum
import io
import json
import re
from collections.abc import Callable
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from flowdsl.runtime.phases import FAILED, OMITTED, SKIPPED, SUCCEEDED
from flowdsl.values import types as t
from tests.end_to_end.run import Node, Run


class Called(NamedTuple):
    """One call: the type of its result, the result, what was printed, and why it failed, if it did."""

    returns: t.Type
    value: object
    printed: str
    error: str | None = None


class Plain:
    """Calls steps as functions, each in an empty folder of its own, and notes what they gave."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.calls: dict[str, Called] = {}

    def __call__(self, name: str, step: Any, *args: Any, **named: Any) -> Any:
        """Call a step as the task of that name."""
        value, printed, error = self._call(name, lambda: step(*args, **named))
        if error is not None:
            raise error
        self.calls[name] = Called(returns(step), value, printed)
        return value

    def fails(self, name: str, step: Any, *args: Any, **named: Any) -> None:
        """Call a step that fails."""
        _, printed, error = self._call(name, lambda: step(*args, **named))
        assert error is not None, f"{name} does not fail"
        self.calls[name] = Called(returns(step), None, printed, str(error))

    def given(self, name: str, step: Any, value: Any, printed: str = "") -> Any:
        """Note what a task gives whose step is not a function."""
        self.calls[name] = Called(returns(step), value, printed)
        return value

    def _call(self, name: str, call: Callable[[], object]) -> tuple[object, str, BaseException | None]:
        folder = self.folder / name
        folder.mkdir(parents=True)
        printed = io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
            try:
                return whole(call(), folder), printed.getvalue(), None
            except (Exception, SystemExit) as error:
                return None, printed.getvalue(), error


def returns(step: Any) -> t.Type:
    """The type of what a step returns."""
    found: t.Type = step._definition.signature.returns
    return found


def parts(value: Any) -> dict[str, Any] | None:
    """The fields of a record by name; None of anything else."""
    kind: Any = value.__class__
    names = getattr(kind, "_fields", None) or getattr(kind, "__dataclass_fields__", None)
    return None if names is None else {name: getattr(value, name) for name in names}


def _list(value: Any) -> list[Any]:
    return list(value)


def _dict(value: Any) -> dict[str, Any]:
    return dict(value)


def whole(value: Any, folder: Path) -> Any:
    """A value with the whole paths of its files."""
    fields = parts(value)
    match value:
        case Path():
            return folder / value
        case _ if fields is not None:
            return type(value)(**{name: whole(one, folder) for name, one in fields.items()})
        case list():
            return [whole(one, folder) for one in _list(value)]
        case tuple():
            return tuple(whole(one, folder) for one in _list(value))
        case dict():
            return {name: whole(one, folder) for name, one in _dict(value).items()}
        case _:
            return value


def shape(value: Any) -> Any:
    """A value as JSON holds it, with the bytes of files in place of their paths."""
    fields = parts(value)
    match value:
        case Path():
            return content(value)
        case enum.Enum():
            return value.name
        case date() | time():
            return value.isoformat()
        case Decimal() | UUID():
            return str(value)
        case timedelta():
            return span(value)
        case _ if fields is not None:
            return {name: shape(one) for name, one in fields.items()}
        case list() | tuple():
            return [shape(one) for one in _list(value)]
        case dict():
            return {str(name): shape(one) for name, one in _dict(value).items()}
        case _:
            return value


def span(value: timedelta) -> str:
    """A span of time in hours, minutes and seconds."""
    if value < timedelta():
        return f"-{span(-value)}"
    hours, rest = divmod(value, timedelta(hours=1))
    minutes, seconds = divmod(rest, timedelta(minutes=1))
    parts = {"h": hours, "m": minutes, "s": seconds.total_seconds()}
    return (
        "".join(f"{number:.6f}".rstrip("0").rstrip(".") + unit for unit, number in parts.items() if number)
        or "0s"
    )


def content(path: Path) -> Any:
    """The bytes of a file, or those of all files in a folder."""
    if path.is_dir():
        return {str(one.relative_to(path)): one.read_bytes() for one in path.rglob("*") if one.is_file()}
    return path.read_bytes()


def short(name: str) -> str:
    """The name of a node as the pipeline has it: without the run, and the groups of a large graph."""
    return ".".join(part for part in name.split(".")[1:] if not re.fullmatch(r".*-part-\d+", part))


def agree(run: Run, plain: Plain, folder: Path) -> None:
    """Assert that the tasks that ran are those that were called, and that each gave what the function gave."""
    pods = {
        short(one.name): one for one in run.nodes.values() if one.pod and one.phase not in (SKIPPED, OMITTED)
    }
    assert sorted(pods) == sorted(plain.calls), run.errors()
    for name, called in plain.calls.items():
        node = pods[name]
        if called.error is not None:
            assert node.phase == FAILED, f"{name}: {node.phase}"
            assert called.error in node.log, f"{name}: {node.log}"
            continue
        assert node.phase == SUCCEEDED, run.errors()
        assert node.log == called.printed, f"{name} printed {node.log!r}, not {called.printed!r}"
        for out in t.outputs(called.returns):
            value = called.value
            for key in out.keys:
                value = getattr(value, key) if isinstance(key, str) else _list(value)[key]
            got, wanted = output(run, node, out, folder), shape(value)
            assert same(got, wanted), f"{name}: {out.name} is {got!r}, not {wanted!r}"


def output(run: Run, node: Node, out: t.Output, folder: Path) -> Any:
    """What a node handed on, in the shape of a value of its type."""
    if not t.holds_file(out.type):
        assert node.parameters is not None
        text = node.parameters[out.name]
        return text if t.is_text(out.type) else json.loads(text)
    path = run.file(node.name, out.name, folder)
    match out.type:
        case t.File() | t.Maybe(t.File()):
            return None if path is None else content(path)
        case t.Sequence(t.File()):
            names = (
                [] if path is None else sorted(path.iterdir(), key=lambda one: int(one.name.split("-")[0]))
            )
            return [content(one) for one in names]
        case t.Mapping(t.File()):
            return {} if path is None else {one.name: content(one) for one in path.iterdir()}
        case _:
            assert path is not None
            return _named(json.loads((path / "value.json").read_text(encoding="utf-8")), path)


def _named(value: Any, folder: Path) -> Any:
    match value:
        case str() if (folder / value).exists() and re.match(r"\d+-", value):
            return content(folder / value)
        case list():
            return [_named(one, folder) for one in _list(value)]
        case dict():
            return {name: _named(one, folder) for name, one in _dict(value).items()}
        case _:
            return value


def same(one: Any, other: Any) -> bool:
    """Whether two shapes are equal; NaN is equal to itself, and no flag is a number."""
    if isinstance(one, list) and isinstance(other, list):
        left, right = _list(one), _list(other)
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(one, dict) and isinstance(other, dict):
        lefts, rights = _dict(one), _dict(other)
        return lefts.keys() == rights.keys() and all(same(lefts[key], rights[key]) for key in lefts)
    if isinstance(one, float) and isinstance(other, float) and one != one:
        return other != other
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
