"""The parts of the keys of cached steps, for people and for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flowdsl.compiler.ir import Memo, Program

_SHOWN = 12  # digits of a digest in the table: enough to distinguish two
_AT_RUN_TIME = "at run time"


def explained(programs: Sequence[Program], *, as_json: bool = False) -> str:
    """The parts of the key of each cached step: the name, the digest, and where it comes from.

    As JSON a list of objects with `pipeline`, `step`, `cache` (the ConfigMap), `max_age`, `digest` (of all that
    is known before the run) and `parts`; a part that is known only at run time has the digest null.
    """
    kept = list(_memos(programs))
    if as_json:
        return json.dumps([_object(*one) for one in kept], indent=2, ensure_ascii=False) + "\n"
    if not kept:
        return "no step is cached\n"
    return "\n".join(_table(*one) for one in kept)


def _memos(programs: Sequence[Program]) -> Iterator[tuple[str, str, Memo]]:
    for program in programs:
        for template in program.templates:
            if template.memo is not None:
                yield program.name, template.name, template.memo


def _object(pipeline: str, step: str, memo: Memo) -> dict[str, Any]:
    parts = [{"name": one.name, "digest": one.digest, "origin": one.origin} for one in memo.ingredients]
    return {
        "pipeline": pipeline,
        "step": step,
        "cache": memo.cache,
        "max_age": memo.max_age,
        "digest": memo.digest,
        "parts": parts,
    }


def _table(pipeline: str, step: str, memo: Memo) -> str:
    rows = [
        (one.name, one.digest[:_SHOWN] if one.digest is not None else _AT_RUN_TIME, one.origin)
        for one in memo.ingredients
    ]
    rows.append(("together", memo.digest[:_SHOWN], "all that is known before the run; it is in the YAML"))
    width = max(len(name) for name, _, _ in rows)
    lines = [f"  {name:<{width}}  {digest:<{_SHOWN}}  {_line(origin)}\n" for name, digest, origin in rows]
    return f"{pipeline}, step {step}: ConfigMap {memo.cache}, results of the last {memo.max_age}\n{''.join(lines)}"


def _line(text: str) -> str:
    """A text on one line."""
    shown = text if text.isprintable() else repr(text)
    return shown if len(shown) <= 100 else f"{shown[:97]}..."
