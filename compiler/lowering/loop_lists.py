"""The results of a loop as a JSON list: for programs in other languages, and inside of other values."""

from __future__ import annotations

from typing import Any

from flowdsl.compiler.forms import Form, Gathered
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Op


def listed(rows: Expr, form: Gathered) -> Expr:
    """The rows of a loop, without files in them, as a list."""
    return Op("listed", (rows, Const(rows_within(form), t.JSON)), t.Sequence(form.item))


def rows_within(form: Form) -> dict[str, Any] | None:
    """Which outputs in the rows of a loop are themselves results of loops, by name, recursively.

    None if there are files among them.
    """
    if not isinstance(form, Gathered) or form.files or form.scattered:
        return None
    inner = {name: rows_within(one) for name, one in form.others}
    return None if None in inner.values() else inner
