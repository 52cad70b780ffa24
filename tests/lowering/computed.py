"""Words and variables of a command that are computed of the inputs of its step."""

from enum import Enum
from typing import NamedTuple

from flowdsl import command, container, output, pipeline


class Kind(Enum):
    FAST = 1
    EXACT = 2


class Size(NamedTuple):
    rows: int
    columns: int


@container(image="busybox:1.37.0")
def plan(size: Size, epochs: int, rate: float, kind: Kind, name: str) -> str:
    text = 'printf "%s|" "$@" "$EXACT" "$LAST" > "$OUT"'
    words = (size.rows * size.columns, f"--epochs={epochs + 1}", rate / 2, epochs > 2, name + "-" + name)
    env = {"EXACT": kind == Kind.EXACT, "LAST": size.rows - 1, "OUT": output()}
    return command("sh", "-c", text, "sh", *words, env=env)


@pipeline
def computed(rows: int = 3, rate: float = 0.5, name: str = "a") -> str:
    return plan(Size(rows, 4), rows, rate, Kind.EXACT, name)
