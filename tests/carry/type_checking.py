from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl import step

if TYPE_CHECKING:
    from decimal import Decimal

    import _mylib

ARGUMENTS = {}


def rounded(value: Decimal, tool: _mylib.Tool | None = None) -> int:
    exact: Decimal = value
    return int(exact)


@step(image="python:3.12-slim")
def train() -> int:
    return rounded(3)
