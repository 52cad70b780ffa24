"""Pipelines of a few lines: what is found in them, and what they emit.

A body is written with «marks» around each text that a finding is expected at.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load

if TYPE_CHECKING:
    from pathlib import Path

    from flowdsl.compiler.compile import Compiled
    from flowdsl.compiler.load import Loaded

HEAD = """
from __future__ import annotations

import collections, contextlib, copy, dataclasses, enum, functools, itertools, json, logging, math
import operator, os, pickle, random, re, statistics, string, struct, textwrap, threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from flowdsl import *

DATA = Volume("datasets")


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


class Other(enum.Enum):
    FAST = 1


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Name(enum.StrEnum):
    FIRST = "first value"


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Trained(NamedTuple):
    model: Path
    accuracy: float
    notes: dict[str, int]


class Pair(NamedTuple):
    left: int
    right: str


@dataclass
class Score:
    loss: float
    rows: list[int] = field(default_factory=list)
    _hidden: int = 0


@dataclass
class Report:
    best: Score
    pairs: list[Pair]
    by_name: dict[str, Score]
    mode: Mode = Mode.FAST


@step(image="i:1")
def train(lr: float = 0.5) -> Trained: ...
@step(image="i:1")
def pair() -> Pair: ...
@step(image="i:1")
def both() -> tuple[int, str]: ...
@step(image="i:1")
def score() -> Score: ...
@step(image="i:1")
def report() -> Report: ...
@step(image="i:1")
def note() -> str | None: ...
@step(image="i:1")
def number() -> int: ...
@step(image="i:1")
def share() -> float: ...
@step(image="i:1")
def word() -> str: ...
@step(image="i:1")
def ready() -> bool: ...
@step(image="i:1")
def numbers() -> list[int]: ...
@step(image="i:1")
def anything() -> Any: ...
@step(image="i:1")
def a_file() -> Path: ...
@step(image="i:1")
def nothing() -> None: ...
@step(image="i:1")
def use(v: Any) -> None: ...
@step(image="i:1")
def use_int(v: int) -> None: ...
@step(image="i:1")
def use_float(v: float) -> None: ...
@step(image="i:1")
def use_str(v: str) -> None: ...
@step(image="i:1")
def use_bool(v: bool) -> None: ...
@step(image="i:1")
def use_mode(v: Mode) -> None: ...
@step(image="i:1")
def use_level(v: Level) -> None: ...
@step(image="i:1")
def use_access(v: Access) -> None: ...
@step(image="i:1")
def use_choice(v: Literal["adam", "sgd"]) -> None: ...
@step(image="i:1")
def use_list(v: list[int]) -> None: ...
@step(image="i:1")
def use_floats(v: list[float]) -> None: ...
@step(image="i:1")
def use_texts(v: list[str]) -> None: ...
@step(image="i:1")
def use_dict(v: dict[str, int]) -> None: ...
@step(image="i:1")
def use_optional(v: str | None) -> None: ...
@step(image="i:1")
def use_path(v: Path) -> None: ...
@step(image="i:1")
def use_pair(v: Pair) -> None: ...
@step(image="i:1")
def use_tuple(v: tuple[int, str]) -> None: ...
@step(image="i:1")
def use_score(v: Score) -> None: ...
@step(image="i:1")
def use_report(v: Report) -> None: ...
@step(image="i:1")
def two(first: int, second: str = "s", *, third: float = 1.0) -> None: ...


"""
MAIN = """
@pipeline
def main(
    n: int = 1, x: float = 0.5, s: str = "text", flag: bool = True, mode: Mode = Mode.FAST, level: Level = Level.LOW,
    rows: list[int] = [1, 2], table: dict[str, int] = {"a": 1, "it's": 2}, lit: Literal[1, 2] = 1,
    word_: Literal["a", "b"] = "a", mixed: Literal["a", 1] = "a", opt: str | None = None,
    optn: int | None = None, thing: Any = None,
) -> None:
    n, x, s, flag, mode, level, rows, table, lit, word_, mixed, opt, optn, thing
"""
_MARK = re.compile("[«»]")


class Found(NamedTuple):
    """The result of compiling a file."""

    loaded: Loaded
    compiled: Compiled

    def findings(self) -> list[tuple[str, str]]:
        """The code and the marked text of each finding, in the order of the file."""
        placed: list[tuple[tuple[int, int], tuple[str, str]]] = []
        for diagnostic in self.compiled.diagnostics:
            assert diagnostic.place is not None
            span = self.loaded.sources.resolve(diagnostic.place)
            assert span is not None
            lines = self.loaded.sources.excerpt(span)
            if len(lines) > 1:
                lines[-1] = lines[-1][: span.end_column - 1]
                text = "\n".join([lines[0][span.column - 1 :], *lines[1:]])
            else:
                text = lines[0][span.column - 1 : span.end_column - 1]
            placed.append(((span.line, span.column), (diagnostic.finding.code, text)))
        return [one for _, one in sorted(placed, key=lambda entry: entry[0])]

    def messages(self) -> list[str]:
        """The titles of the findings."""
        return [diagnostic.finding.message for diagnostic in self.compiled.diagnostics]

    def tasks(self) -> dict[str, dict[str, Any]]:
        """The tasks of all graphs by name."""
        templates = self.compiled.documents[0]["spec"]["templates"]
        return {task["name"]: task for one in templates for task in one.get("dag", {}).get("tasks", ())}

    def argument(self, task: str = "use", name: str = "v") -> str:
        """The text of a task's argument; for the first task whose name has this prefix."""
        found = next(one for key, one in self.tasks().items() if key.startswith(task))
        values = {one["name"]: one["value"] for one in found["arguments"]["parameters"]}
        text: str = values[name]
        return text


def compile_text(folder: Path, text: str) -> Found:
    """Compile a file with this text, without its marks."""
    path = folder / "pipeline.py"
    path.write_text(plain(text), encoding="utf-8")
    loaded = load(path)
    return Found(loaded, compile_loaded(loaded))


def compile_body(folder: Path, body: str, before: str = "") -> Found:
    """Compile a pipeline with this body, below the steps of `HEAD` and the definitions `before`."""
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return compile_text(folder, HEAD + textwrap.dedent(before) + MAIN + lines + "\n")


def plain(text: str) -> str:
    """A text without its marks."""
    return _MARK.sub("", text)


def marked(text: str) -> list[str]:
    """The marked texts, in order."""
    return re.findall("«([^»]*)»", text)


def whole(made: str) -> str:
    """An integer that an expression reads from JSON, which Argo parses as a float."""
    told = "fromJSON('Argo rounds whole numbers beyond 53 bits')"
    return f"{{{{=(abs({made}) < 9007199254740992 ? int({made}) : {told})}}}}"
