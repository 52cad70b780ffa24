"""Marks that tell external files apart in the keys of cached results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.artifact import TEXTS
from flowdsl.compiler.forms import File
from flowdsl.compiler.options.code import is_pinned
from flowdsl.grammar.digest import digest
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Many, Out, RunField, Stored
from flowdsl.volume import Secret

if TYPE_CHECKING:
    from flowdsl.compiler.forms import Mark

_ELSEWHERE = ("headers", *(word for words in TEXTS.values() for word in words))


def marked(file: Stored) -> tuple[File, list[Expr]]:
    """The form and the values of a file that is identified by its location.

    What is known at compile time is included as a digest, since the text of a file may be long.
    """
    artifact = file.artifact
    words = sorted(artifact.words.items())
    known = [artifact.kind, *(f"{name}={value!r}" for name, value in words if _counts(name, value))]
    later: list[Expr] = []
    for name, text in zip(file.names, file.texts, strict=True):
        if isinstance(text, Const):
            known.append(f"{name}={text.value}")
        else:
            known.append(name)
            later.append(text)
    mark: Expr = Const(digest(*known), t.TEXT)
    if later:
        mark = Many((mark, *later), (), t.Sequence(t.TEXT))
    how: Mark = "fixed" if _is_fixed(file) else "place"
    return File(False, how), [file, mark]


def of_run(file: Expr, origin: str | Out) -> tuple[File, list[Expr]]:
    """The form and the values of a file that is known only in its run: `origin` is unique there."""
    named = Const(origin, t.TEXT) if isinstance(origin, str) else origin
    return File(False, "run"), [file, Many((RunField("name"), named), (), t.Sequence(t.TEXT))]


def _counts(name: str, value: object) -> bool:
    return value is not None and name not in _ELSEWHERE and not isinstance(value, Secret)


def _is_fixed(file: Stored) -> bool:
    """Whether the content at that location can never change."""
    if file.artifact.kind == "Git":
        revision = dict(zip(file.names, file.texts, strict=True)).get("revision")
        return isinstance(revision, Const) and is_pinned(revision.value)
    return file.artifact.kind == "Raw"
