"""Pipelines of many shapes, each at two sizes: what is four times as large may take four times as long, not more.

Each is compiled from its file to the YAML, in one process, and CPU time counts. What is so large that the API server
would refuse it, or so wrong that there is no YAML, is looked at to the end as well.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.local import Line, child

_HEAD = """from pathlib import Path
from typing import NamedTuple
from flowdsl import *

DATA = Volume("data")
STEP = step(image="python:3.12-slim")

class Both(NamedTuple):
    file: Path
    number: int

@STEP
def one(x: int = 1) -> int:
    return x

@STEP
def both(x: int = 1) -> Both:
    return Both(Path("a"), x)

@STEP
def take(file: Path, x: int = 1) -> Path:
    return file

@STEP
def every(xs: list[int]) -> int:
    return sum(xs)

@STEP
def gather(xs: list[Both]) -> int:
    return len(xs)

@STEP
def text(s: str) -> str:
    return s

@STEP
def nothing(x: int = 0) -> None: ...

@pipeline
def inner(file: Path = DATA / "file") -> Path:
    return take(file)

"""


def _pipeline(lines: str) -> str:
    return f"@pipeline\ndef shape(a: int = 1) -> None:\n    first = one(a)\n{lines}"


def _repeated(line: Callable[[int], str]) -> Callable[[int], str]:
    return lambda count: _pipeline("".join(f"    {line(number)}\n" for number in range(count)))


SHAPES: dict[str, Callable[[int], str]] = {
    "tasks beside each other": _repeated(lambda at: f"v{at} = one({at})"),
    "one variable, again and again": _repeated(lambda _: "first = one(first)"),
    "texts with a value": _repeated(lambda at: f"t{at} = text(f'{{first}}-{at}')"),
    "options of calls": _repeated(lambda at: f"v{at} = one.options(cpu={at + 1})({at})"),
    "volumes": lambda count: (
        "".join(f"V{at} = Volume('v{at}')\n" for at in range(count))
        + _repeated(lambda at: f"t{at} = take(V{at} / 'x')")(count)
    ),
    "blocks of when": _repeated(lambda at: f"with when(first > {at}):\n        v{at} = one({at})"),
    "choices behind blocks": _repeated(
        lambda at: (
            f"with when(first > {at}):\n        v{at} = one({at})\n    with otherwise():\n        w{at} = one(0)\n"
            f"    e{at} = one(either(v{at}, w{at}))"
        )
    ),
    "what follows a failure": _repeated(
        lambda at: f"v{at} = one({at})\n    with on_failure(v{at}):\n        nothing({at})"
    ),
    "order alone": _repeated(
        lambda at: f"n{at} = nothing.options(after={f'n{at - 1}' if at else 'first'})({at})"
    ),
    "loops": _repeated(lambda at: f"r{at} = fan_out(one, over={{'x': [1, 2]}})\n    s{at} = every(r{at})"),
    "sweeps": _repeated(
        lambda at: (
            f"r{at} = sweep(one, over={{'x': [1, 2]}}, objective=maximize())\n    s{at} = one(r{at}.best)"
        )
    ),
    "one list of all results": lambda count: _pipeline(f"    gather([both(at) for at in range({count})])\n"),
    "calls of one pipeline": _repeated(lambda at: f"f{at} = inner(f{at - 1})" if at else "f0 = inner()"),
    "pipelines": lambda count: (
        "".join(f"@pipeline\ndef p{at}(x: int = 1) -> int:\n    return one(x)\n\n" for at in range(count))
        + _repeated(lambda at: f"v{at} = p{at}({at})")(count)
    ),
    "steps with a common function": lambda count: (
        "def same(x):\n    return x\n\n"
        + "".join(f"@STEP\ndef s{at}(x: int) -> int:\n    return same(x) + {at}\n\n" for at in range(count))
        + _repeated(lambda at: f"v{at} = s{at}({at})")(count)
    ),
    "functions that call each other": lambda count: (
        "def f0(x):\n    return x\n\n"
        + "".join(f"def f{at}(x):\n    return f{at - 1}(x)\n\n" for at in range(1, count))
        + f"@STEP\ndef deep(x: int) -> int:\n    return f{count - 1}(x)\n\n"
        + _pipeline("    deep(1)\n")
    ),
    "mistakes": _repeated(lambda at: f"one('{at}')"),
}

_COMPILE = """
import json, sys, time
from pathlib import Path
from tempfile import TemporaryDirectory
from flowdsl.cli import collect_seldom
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from benchmarks.shapes import source

name, sizes, rounds = sys.argv[1], [int(one) for one in sys.argv[2:-1]], int(sys.argv[-1])
collect_seldom()
with TemporaryDirectory() as folder:
    def once(size):
        path = Path(folder, f"shape_{size}.py")
        path.write_text(source(name, size))
        start = time.process_time()
        compile_loaded(load(path))
        return time.process_time() - start
    once(8)
    print(json.dumps([min(one) for one in zip(*[[once(size) for size in sizes] for _ in range(rounds)])]))
"""


def source(name: str, count: int) -> str:
    """The file of a shape with `count` parts."""
    return _HEAD + SHAPES[name](count)


def measure(python: Path, *, short: bool, progress: Callable[[str], None]) -> tuple[list[Line], list[str]]:
    """The lines, and the text of every crash."""
    small, rounds = (125, 1) if short else (1000, 3)
    lines: list[Line] = []
    crashes: list[str] = []
    for name in SHAPES:
        progress(name)
        found = child(python, _COMPILE, [name, small, 4 * small, rounds], crashes, name)
        ratio = None if found is None else found[1] / found[0]
        numbers = "" if found is None else f"{found[1] * 1000:.0f} ms, {found[0] * 1000:.0f} ms of a quarter"
        lines.append(Line(name, numbers, ratio, 5.0))
    return lines, crashes
