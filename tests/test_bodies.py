"""What the bodies of steps show, and above all what is right and must not be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.findings.bodies import untagged
from flowdsl.compiler.load import load

HEAD = """
from __future__ import annotations

import contextlib, os, sys
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn

from flowdsl import *

IMAGE = "python:3.12-slim"
"""


class Case:
    """Steps and the calls of them in a pipeline."""

    def __init__(self, steps: str, calls: str) -> None:
        self.text = f"{HEAD}\n{steps}\n\n@pipeline\ndef nightly() -> None:\n    {calls}\n"


def codes(case: Case, folder: Path) -> list[str]:
    (folder / "case.py").write_text(case.text, encoding="utf-8")
    return [one.finding.code for one in compile_loaded(load(folder / "case.py")).diagnostics]


RIGHT = {
    "variables of comprehensions, loops and functions inside, which are no parameters and no modules": Case(
        """
import time as t
import types as c
from dataclasses import dataclass, replace


@dataclass
class Config:
    rate: float
    def __post_init__(self) -> None:
        self.more = self.rate


class Row(NamedTuple):
    loss: float
    name: str


@step(image=IMAGE)
def report(cfg: dict[str, float], configs: list[Config], rows: list[Row], n: int | None, s: str) -> str:
    rates = [cfg.rate for cfg in configs] + [cfg["a"]]
    losses = [t.loss for t in rows] + [t.time()]
    again = [c.more for c in configs] + [c.SimpleNamespace(value=1).value]
    if n is None:
        n = 3
    for i in range(n):
        rates.append(i)
    for row in rows:
        row = row._replace(loss=2.0)
        losses.append(row._asdict()["loss"])
    best = max(rows, key=lambda r: r.loss)
    pairs = sorted(cfg.items(), key=lambda one: one[1])
    by_name = {r.name: [two.rate for two in configs] for r in rows}
    name = s
    name = name.split(",")
    name.append("x")
    if isinstance(cfg, Config):
        print(cfg.rate)
    try:
        print(s.decode())
    except AttributeError:
        pass
    later = lambda cfg: cfg.anything
    def inner(s: Config) -> float:
        return s.rate
    with open("a.txt", "w") as file:
        file.write("1")
    with open("a.txt") as file:
        file.readline()
    other = replace(configs[0], rate=3.0)
    configs[0].note = "kept"
    print(again, best, pairs, by_name, later, inner, other.rate, configs[0].note)
    return "".join(name)
""",
        'report({"a": 1.0}, [Config(0.1)], [Row(0.1, "a")], None, "s")',
    ),
    "files in folders that are made, opened for what is done, and read where something brings them": Case(
        """
import csv, json, pickle, shutil, tempfile


@step(image=IMAGE)
def train(rate: float) -> Path:
    folder = Path("out") / "models"
    folder.mkdir(parents=True)
    (folder / "model.json").write_text(json.dumps({"rate": rate}))
    with (folder / "model.pkl").open("wb") as model:
        pickle.dump({"rate": rate}, model)
    with open("rows.csv", "w", newline="") as rows:
        csv.writer(rows).writerow([rate])
        print("more", file=rows)
    with tempfile.TemporaryDirectory() as work:
        Path(work, "draft.txt").write_text("a")
        shutil.copy(Path(work) / "draft.txt", folder / "final.txt")
    return folder


@step(image=IMAGE, mounts={"/data": Volume("data"), "/data/new": Volume("new")})
def written(name: str) -> None:
    Path("/data/new/a.txt").write_text(name)
    Path("/data/b.txt").write_text(name)
    Path("data/c.txt").write_text(name) if name else None


@step(image=IMAGE)
def cached(folder: Path) -> str:
    if not (folder / "seen.txt").exists():
        try:
            (folder / "seen.txt").write_text("a")
        except OSError:
            pass
    return Path(folder / "a.txt").read_text()
""",
        'train(0.1), written("a"), cached(Volume("data") / "raw")',
    ),
    "a server, whose value is its address": Case(
        """
@step(image=IMAGE, daemon=True)
def server(port: int) -> str:
    from http.server import HTTPServer, SimpleHTTPRequestHandler
    HTTPServer(("", port), SimpleHTTPRequestHandler).serve_forever()
@step(image=IMAGE)
def read(address: str) -> str:
    from urllib.request import urlopen
    return urlopen(f"http://{address}:8080").read().decode()
""",
        "read(server(8080))",
    ),
    "variables that have a value where they are read, though it is written below, or is no value of the function": Case(
        """
SEEN = []
@step(image=IMAGE)
def sizes(rows: list[str], limit: int) -> int:
    global SEEN
    def later() -> int:
        return size + len(text)
    size = (half := len(rows) // 2) + half
    kept: Path = [row for row in rows if (text := row.strip()) and text]
    for number in range(2):
        if number:
            size += before
        before = number
    try:
        from math import fsum as total
    except ImportError as error:
        total = sum
    with open("/dev/null") as file:
        line = file.readline()
    match line.split():
        case [word, *rest]:
            size += len(rest) + len(word)
        case {**others}:
            size += len(others)
        case _:
            rest = []
    best, *others = sorted([1, *map(len, rest)])
    row = max(others, default=best)
    limit += 1
    def counted() -> int:
        nonlocal size
        size += 1
        return size
    number, rows = len([row for row in kept]), []
    lazy = (each + following for each in range(3))
    following = 1
    if any((hit := each) > 2 for each in lazy):
        size += hit
    hit = 0
    return int(total([row, number, later(), counted(), limit]))
""",
        'sizes(["a"], 1)',
    ),
    "a step that never comes to its end": Case(
        """
import enum, subprocess
class Mode(enum.Enum):
    FAST = "fast"
    EXACT = "exact"
def stop(text: str) -> NoReturn:
    raise SystemExit(text)
def refuse(text: str):
    if text:
        raise ValueError(text)
    else:
        stop("empty")
@step(image=IMAGE)
def ways(n: int, flag: bool, mode: Mode, word: Literal["a", "b", "c"]) -> int:
    if n == 1:
        with open("/dev/null") as file:
            return len(file.read())
    elif n == 2:
        while True:
            if n > 5:
                return 1
            n += 1
    elif n == 3:
        for k in range(n):
            if k > n:
                return k
        else:
            raise ValueError(n)
    elif n == 4:
        try:
            return int("4")
        except ValueError:
            sys.exit(3)
        finally:
            print("done")
    elif n == 5:
        match n:
            case 5 if flag:
                return 1
            case (other):
                return other
    elif n == 6:
        refuse("six")
    elif n == 7:
        assert False, "seven"
    else:
        stop("more")
@step(image=IMAGE)
def modes(mode: Mode) -> int:
    if mode == Mode.FAST:
        return 1
    elif mode is Mode.EXACT:
        return 2
@step(image=IMAGE)
def words(word: Literal["a", "b", "c"]) -> int:
    if word in ("a", "b"):
        return 1
    if word == "c":
        return 2
@step(image=IMAGE)
def flags(flag: bool) -> int:
    if flag:
        return 1
    if not flag:
        return 2
@step(image=IMAGE)
def matched(word: Literal["a", "b", "c"]) -> int:
    match word:
        case "a" | "b":
            return 1
        case "c":
            return 2
@step(image="pytorch/pytorch:2.7.1", distributed=Torch(workers=2), timeout="1h", store=Volume("claim") / "runs")
def ranked(n: int) -> int:
    if os.environ["RANK"] == "0":
        return n
@step(image=IMAGE)
def forked(n: int) -> int:
    if os.fork():
        return n
@step(image=IMAGE)
def perhaps(n: int) -> int | None:
    if n:
        return n
@step(image=IMAGE)
def unknown(n: int) -> Any:
    if n:
        return n
""",
        'ways(1, True, Mode.FAST, "a"); modes(Mode.FAST); words("a"); flags(True); matched("a"); '
        "perhaps(1); unknown(1); ranked(1); forked(1)",
    ),
    "a module that is asked for by the version": Case(
        """
@step(image="python:3.10")
def names(text: str) -> list[str]:
    if sys.version_info >= (3, 11):
        import tomllib
        return sorted(tomllib.loads(text))
    return []
@step(image="python:3.11", packages=["a==1"])
def other(text: str) -> list[str]:
    import tomllib
    return sorted(tomllib.loads(text))
@step(image="python:3.9", packages=["tomli==2.2.1"])
def either_of(text: str) -> list[str]:
    try:
        import tomllib
    except ImportError:
        import tomli as tomllib
    return sorted(tomllib.loads(text))
@step(image="python:latest")
def newest(text: str) -> int:
    match text:
        case "a":
            return 1
    return 2
""",
        'names("a"); other("b"); either_of("b"); newest("c")',
    ),
    "a cache of one step": Case(
        """
CACHE: dict[str, int] = {}
@step(image=IMAGE)
def count(text: str) -> int:
    CACHE[text] = len(text)
    return sum(CACHE.values())
""",
        'count("a")',
    ),
    "a list that every step fills for itself": Case(
        """
ROWS: list[str] = []
@step(image=IMAGE)
def one(text: str) -> int:
    ROWS.append(text)
    return len(ROWS)
@step(image=IMAGE)
def two(text: str) -> int:
    ROWS.append(text)
    return len(ROWS)
""",
        'one("a"); two("b")',
    ),
    "a constant that steps read": Case(
        """
NAMES = ["a", "b"]
@step(image=IMAGE)
def one(text: str) -> int:
    return len(NAMES)
@step(image=IMAGE)
def two(text: str) -> int:
    NAMES_HERE = list(NAMES)
    NAMES_HERE.append(text)
    return len(NAMES_HERE)
""",
        'one("a"); two("b")',
    ),
    "a local variable of the name of a list": Case(
        """
NAMES = ["a", "b"]
@step(image=IMAGE)
def one(text: str) -> int:
    NAMES = [text]
    NAMES.append(text)
    return len(NAMES)
@step(image=IMAGE)
def two(text: str) -> int:
    return len(NAMES)
""",
        'one("a"); two("b")',
    ),
    "a library that may be missing": Case(
        """
@step(image=IMAGE)
def one(text: str) -> int:
    try:
        import pandas
    except ImportError:
        return 0
    return len(text)
""",
        'one("a")',
    ),
    "a library that the step installs": Case(
        """
@step(image=IMAGE)
def one(text: str) -> int:
    import subprocess
    subprocess.run([sys.executable, "-m", "pip", "install", "pandas"], check=True)
    import pandas
    return len(text)
""",
        'one("a")',
    ),
    "a library in an image of one's own": Case(
        """
@step(image="registry.example.com/python:3.12")
def one(text: str) -> int:
    import pandas
    return len(text)
@step(image=IMAGE)
def two(text: str) -> int:
    import pandas
    return len(text)
""",
        'one("a"); two.options(image="pandas/pandas:1")("a")',
    ),
    "words that look like an import": Case(
        '''
@step(image=IMAGE)
def one(text: str) -> int:
    """Count.

    import pandas as pd
    from torch import nn
    """
    return len(text)
''',
        'one("a")',
    ),
    "modules of Python and of every image": Case(
        """
@step(image=IMAGE)
def one(text: str) -> int:
    import json, pip, setuptools
    from collections import abc
    return len(json.dumps(text))
""",
        'one("a")',
    ),
    "a step that always fails": Case(
        """
@step(image=IMAGE)
def one(text: str) -> int:
    raise NotImplementedError
@step(image=IMAGE)
def two(text: str) -> int:
    sys.exit(text)
@step(image=IMAGE)
def three(text: str) -> int:
    while True:
        os.wait()
""",
        'one("a"); two("b"); three("c")',
    ),
    "results that may be None": Case(
        """
@step(image=IMAGE)
def one(text: str) -> str | None:
    print(text)
@step(image=IMAGE)
def two(text: str) -> Any:
    print(text)
@step(image=IMAGE)
def three(text: str) -> None:
    print(text)
""",
        'one("a"); two("b"); three("c")',
    ),
    "results that JSON has": Case(
        """
class Score(NamedTuple):
    loss: float
    pair: tuple[int, str]
    names: dict[str, list[int]]
@step(image=IMAGE)
def one(text: str) -> Score:
    return Score(float("nan"), (1, "a"), names={"a": [1, 2], text: [3]})
@step(image=IMAGE)
def two(text: str) -> dict[str, Any]:
    found = {1: text, 2: {text}}
    return {"keys": sorted(found), "text": text, **{"more": 1}}
@step(image=IMAGE)
def three(text: str) -> list[str]:
    def inner() -> set[str]:
        return {text}
    return sorted(inner())
""",
        'one("a"); two("b"); three("c")',
    ),
}

WRONG = {
    "a step that only raises, breaks or leaves on some ways": (
        Case(
            """
@step(image=IMAGE)
def raising(n: int) -> int:
    if n < 0:
        raise ValueError(n)
    print(n)
@step(image=IMAGE)
def breaking(n: int) -> int:
    while True:
        n += 1
        if n > 3:
            break
@step(image=IMAGE)
def leaving(n: int) -> int:
    if n:
        sys.exit(3)
@step(image=IMAGE)
def empty(n: int) -> int:
    return
""",
            "raising(1); breaking(1); leaving(1); empty(1)",
        ),
        ["FD768"] * 4,
    ),
    "a step that may come to its end": (
        Case(
            """
def told(text: str) -> None:
    print(text)
@step(image=IMAGE)
def looping(n: int) -> int:
    while n:
        if n == 3:
            return n
@step(image=IMAGE)
def broken(n: int) -> int:
    while True:
        for k in range(n):
            break
        if n == 3:
            return n
        elif n == 4:
            break
@step(image=IMAGE)
def said(n: int) -> int:
    if n:
        return n
    else:
        told("no")
@step(image=IMAGE)
def words(word: Literal["a", "b", "c"]) -> int:
    match word:
        case "a" | "b":
            return 1
@step(image=IMAGE)
def flags(flag: bool) -> int:
    if flag:
        return 1
@step(image=IMAGE)
def early(n: int) -> int:
    for k in range(n):
        if k > 2:
            return
    return 1
@step(image=IMAGE)
def suppressed(n: int) -> int:
    with contextlib.suppress(ValueError):
        return int("n")
@step(image=IMAGE)
def shown(word: Literal["a", "b"], n: int) -> int:
    if n > 2 and word == "a":
        return 1
    print(word == "a", word == "b")
@step(image=IMAGE)
def chosen(word: Literal["a", "b"], n: int) -> int:
    print(word == "a", word == "b")
    if word == "a":
        return 1
@step(image=IMAGE)
def tried(n: int) -> int:
    try:
        print(n)
    except ValueError:
        return n
    else:
        n = 2
@step(image=IMAGE)
def cleaned(n: int) -> int:
    try:
        if n:
            return n
    finally:
        print(n)
@step(image=IMAGE)
def otherwise(n: int) -> int:
    for k in range(n):
        if k:
            break
    else:
        return n
""",
            'looping(1); broken(1); said(1); words("a"); flags(True); tried(1); otherwise(1); early(1); '
            'cleaned(1); suppressed(1); shown("a", 1); chosen("a", 1)',
        ),
        ["FD786"] * 12,
    ),
    "a pipeline that reads what a step fills": (
        Case(
            """
ROWS: list[str] = []
@step(image=IMAGE)
def one(text: str) -> None:
    ROWS.append(text)
""",
            'one("a"); one.options(name=f"n{len(ROWS)}")("b")',
        ),
        ["FD766"],
    ),
    "a library at the top of the file": (
        Case(
            """
if False:
    pass
import yaml
@step(image="docker.io/library/python:3.12")
def one(text: str) -> int:
    return len(yaml.safe_dump(text))
""",
            'one("a")',
        ),
        ["FD767"],
    ),
    "a step that quits": (
        Case(
            """
@step(image=IMAGE)
def one(text: str) -> str:
    if text == "":
        quit()
    return text[-1]
""",
            'one("a")',
        ),
        ["FD327"],
    ),
    "a step that only prints": (
        Case(
            """
@step(image=IMAGE)
def one(text: str) -> tuple[int, str]:
    print(text)
""",
            'one("a")',
        ),
        ["FD768"],
    ),
}


@pytest.mark.parametrize("case", RIGHT.values(), ids=RIGHT.keys())
def test_what_is_right_is_not_told(case: Case, tmp_path: Path) -> None:
    assert codes(case, tmp_path) == []


@pytest.mark.parametrize(("case", "expected"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_told(case: Case, expected: list[str], tmp_path: Path) -> None:
    assert codes(case, tmp_path) == expected


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("alpine", True),
        ("team/alpine", True),
        ("registry.example.com:5000/team/alpine", True),
        ("alpine:3.22", False),
        ("registry.example.com:5000/team/alpine:3", False),
        ("alpine@sha256:abc", False),
        ("{{inputs.parameters.image}}", False),
        ("", False),
    ],
)
def test_which_images_have_no_tag(image: str, expected: bool) -> None:
    assert untagged(image) is expected
