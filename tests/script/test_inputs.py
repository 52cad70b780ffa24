"""Inputs of scripts: every type, from variables and files, and what is said about a wrong one."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import UUID

import pytest

from flowdsl.compiler.ports import (
    IN,
    FromEnv,
    FromEnvPath,
    FromFile,
    FromParts,
    FromRows,
    Reader,
)
from flowdsl.values import types as t
from tests.script.pods import Python, Step, check, every_python

# Inputs.
INPUTS = """
import enum
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Optional

class Optimizer(enum.Enum):
    ADAM = object()
    SGD = 2

@dataclass
class Layer:
    size: int
    rate: float = 0.5
    tags: list[str] = field(default_factory=list)

class Config(NamedTuple):
    layers: list[Layer]
    optimizer: Optimizer
    cls: Optional[Layer] = None

@step(image="python")
def step(
    text: str, whole: int, real: float, reals: list[float], flag: bool, nothing: None,
    optimizer: Optimizer, word: Literal["a", "b c"], mixed: Literal[1, "x", True],
    table: dict[str, list[int]], pair: tuple[int, Optional[str]], config: Config, one: tuple[float],
    several: tuple[Optimizer, ...], nested: tuple[tuple[float, ...], ...],
    anything: Any, absent: Optional[Config],
    file: Path, folder: Path, no_file: Optional[Path], some_file: Optional[Path], listed: list[Path],
    named: dict[str, Path], empty: list[Path], mounted: Path, unmounted: Optional[Path],
) -> list[str]:
    print("the step prints", flush=True)
    assert type(real) is float and all(type(one) is float for one in [*reals, *one])
    shown = [text, whole, real, reals, flag, nothing, optimizer.name, word, mixed, table, pair, config, one,
             [one.name for one in several], type(several), nested,
             anything, absent, file.read_text(), sorted(path.name for path in folder.iterdir()), no_file,
             some_file and some_file.read_text(), [path.read_text() for path in listed],
             {key: path.read_text() for key, path in named.items()}, empty, str(mounted), unmounted]
    return [repr(one) for one in shown]
"""


@every_python
def test_inputs_of_all_types(python: Python, tmp_path: Path) -> None:
    step = Step(INPUTS, tmp_path)
    files = tmp_path / "in"
    for name, text in {
        "file": "F",
        "folder/a": "",
        "folder/b": "",
        "some_file": "S",
        "listed/10-model.bin": "ten",
        "listed/9": "nine",
        "listed/0-a-b": "zero",
        "named/x y": "X",
        "named/a": "A",
    }.items():
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        (files / name).write_text(text)
    layer = '{"size": 3, "rate": 1, "tags": ["t"]}'
    values = {
        "text": "$(HOME) ü",
        "whole": "9007199254740993",
        "real": "3",
        "reals": "[1e+21, 0.00002, 2, NaN, Infinity, -Infinity]",
        "flag": "true",
        "nothing": "null",
        "optimizer": "ADAM",
        "word": "b c",
        "mixed": '"x"',
        "table": '{\n  "\\u007b": [1, 2]\n}',
        "pair": "[1, null]",
        "config": '{"layers": [' + layer + ', {"size": 4}], "optimizer": "SGD", "cls": {"size": 5}}',
        "one": "[1]",
        "several": '["ADAM", "SGD"]',
        "nested": "[[], [1, 2.5]]",
        "anything": '{"a": [1, 2.5, null, "\\ud83d"]}',
        "absent": "null",
        "mounted": "/flowdsl/volumes/data/x",
        "unmounted": "",
    }
    readers: dict[str, Reader] = {
        "mounted": FromEnvPath("FLOWDSL_mounted"),
        "unmounted": FromEnvPath("FLOWDSL_unmounted", optional=True),
    }
    pod = check(step.run(tmp_path, values, readers=readers, python=python))
    assert pod.stdout == "the step prints\n"
    three = "Layer(size=3, rate=1.0, tags=['t'])"
    four, five = (f"Layer(size={size}, rate=0.5, tags=[])" for size in (4, 5))
    assert json.loads(pod.values["return"]) == [
        "'$(HOME) ü'",
        "9007199254740993",
        "3.0",
        "[1e+21, 2e-05, 2.0, nan, inf, -inf]",
        "True",
        "None",
        "'ADAM'",
        "'b c'",
        "'x'",
        "{'{': [1, 2]}",
        "(1, None)",
        f"Config(layers=[{three}, {four}], optimizer=<Optimizer.SGD: 2>, cls={five})",
        "(1.0,)",
        "['ADAM', 'SGD']",
        "<class 'tuple'>",
        "((), (1.0, 2.5))",
        "{'a': [1, 2.5, None, '\\ud83d']}",
        "None",
        "'F'",
        "['a', 'b']",
        "None",
        "'S'",
        "['zero', 'nine', 'ten']",
        "{'a': 'A', 'x y': 'X'}",
        "[]",
        "'/flowdsl/volumes/data/x'",
        "None",
    ]


@pytest.mark.parametrize(
    "text", ["1e+21", "0.00002", "3", "NaN", "Infinity", "-Infinity", "1e-05", "-0.0", "0.1"]
)
def test_floats_as_argo_writes_them(text: str, tmp_path: Path) -> None:
    source = '@step(image="python")\ndef step(value: float) -> float:\n    return value\n'
    pod = check(Step(source, tmp_path).run(tmp_path, {"value": text}))
    assert repr(float(pod.values["return"])) == repr(float(text))


WRONG_INPUTS = {
    ("int", "3.0"): "invalid literal for int() with base 10: '3.0'",
    ("float", "abc"): "could not convert string to float: 'abc'",
    ("bool", "True"): "expected true or false, got 'True'",
    ("Kind", "BIG"): "expected one of SMALL, LARGE, got 'BIG'",
    ("Literal['a', 'b']", "c"): "expected one of ('a', 'b'), got 'c'",
    ("list[int]", "1 2"): "expected JSON, got '1 2'",
    ("tuple[int, ...]", '[1, "1"]'): "expected int, got str '1'",
    ("tuple[int, ...]", "1"): "expected list, got int 1",
    ("list[int]", '"12"'): "expected list, got str '12'",
    ("list[int]", '["1"]'): "expected int, got str '1'",
    ("dict[str, int]", "[1]"): "expected dict, got list [1]",
    ("tuple[int, str]", "[1]"): "expected 2 values, got list [1]",
    ("Row", '{"size": 1, "sise": 2}'): "Row has no field sise",
    ("Row", '{"kind": "SMALL"}'): "missing 1 required positional argument: 'size'",
    ("Row", '{"size": "x"}'): "expected int, got str 'x'",
    ("Row", '{"size": -1}'): "the size is not positive",
    ("Row", '{"size": 1, "kind": "BIG"}'): "expected one of SMALL, LARGE, got 'BIG'",
    ("Row | None", "3"): "expected Row, got int 3",
    ("timedelta", "1 day"): "expected a duration such as 1h30m, got '1 day'",
    ("timedelta", "-"): "expected a duration such as 1h30m, got '-'",
    ("UUID", "1"): "expected UUID, got '1'",
    ("UUID", f"{{{UUID(int=10)}}}"): f"expected {UUID(int=10)}, got '{{{UUID(int=10)}}}'",
    ("list[Decimal]", '["1,5"]'): "expected Decimal, got '1,5'",
    ("list[Decimal]", "[1.5]"): "expected str, got float 1.5",
}


@pytest.mark.parametrize(("kind", "text"), WRONG_INPUTS, ids=str)
def test_a_wrong_input_ends_with_one_sentence(kind: str, text: str, tmp_path: Path) -> None:
    source = (
        "import enum\nfrom dataclasses import dataclass\nfrom datetime import timedelta\nfrom decimal import Decimal\n"
        "from typing import Literal\nfrom uuid import UUID\n"
        "class Kind(enum.Enum):\n    SMALL = 1\n    LARGE = 2\n"
        "@dataclass\nclass Row:\n    size: int\n    kind: Kind = Kind.SMALL\n"
        "    def __post_init__(self):\n        if self.size < 0:\n"
        '            raise ValueError("the size is not positive")\n'
        f'@step(image="python")\ndef step(value: {kind}) -> None:\n    print("ran")\n'
    )
    pod = Step(source, tmp_path).run(tmp_path, {"value": text})
    assert (pod.code, pod.stdout) == (1, "")
    assert pod.stderr.startswith(f"step step, input value ({kind}): ")
    assert pod.stderr.endswith(WRONG_INPUTS[kind, text] + "\n")
    assert pod.stderr.count("\n") == 1


ROWS = """
import enum
from pathlib import Path
from typing import NamedTuple, Optional

class Kind(enum.Enum):
    A = 1

class Score(NamedTuple):
    loss: float
    kind: Kind
    notes: dict[str, int]
    model: Path
    log: Optional[Path]
    parts: list[Path]
    label: Optional[str]
    name: str

@step(image="python")
def step(
    scores: list[Score], pairs: list[tuple[int, Path]], texts: list[str], paths: list[Path]
) -> list[str]:
    shown = [one._replace(model=one.model.read_text(), log=one.log and one.log.read_text(),
                          parts=[part.read_text() for part in one.parts]) for one in scores]
    others = [(number, str(path)) for number, path in pairs], texts, [path.read_text() for path in paths]
    return [repr(one) for one in (*shown, *others)]
"""


@every_python
def test_what_a_loop_hands_on(python: Python, tmp_path: Path) -> None:
    step = Step(ROWS, tmp_path)
    for name in ("m/2", "m/1", "m/0", "logs/2", "parts/2/0-x", "parts/2/1", "paths/1", "paths/0"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(name)

    def row(index: str, **values: str) -> dict[str, str]:
        shared = {"kind": "A", "notes": '{"a": 1}', "name": '"{x}"'}
        return {"flowdsl-index": index, "loss": "NaN", "label": "null", **shared, **values}

    folders = tuple(
        (name, f"{IN}/{folder}") for name, folder in (("model", "m"), ("log", "logs"), ("parts", "parts"))
    )
    item = step.type_of("scores")
    pairs, texts = step.type_of("pairs"), step.type_of("texts")
    assert isinstance(item, t.Sequence)
    assert isinstance(pairs, t.Sequence)
    assert isinstance(texts, t.Sequence)
    readers: dict[str, Reader] = {
        "scores": FromRows("FLOWDSL_scores", item.item, folders),
        "pairs": FromRows("FLOWDSL_pairs", pairs.item),
        "texts": FromRows("FLOWDSL_texts", texts.item),
        "paths": FromRows(FromFile(f"{IN}/rows"), t.FILE, (("return", f"{IN}/paths"),)),
    }
    values = {
        "scores": json.dumps([row("/10/1"), row("/2", loss="3", label='"l"'), row("/10/0")]),
        "pairs": '[{"flowdsl-index":"/1","item-0":"7","item-1":"/v/b"},'
        '{"flowdsl-index":"/0","item-0":"5","item-1":"/v/a"}]',
        "texts": '[{"flowdsl-index":"/0","return":"a \\"b\\""}]',
    }
    (tmp_path / "in" / "rows").write_text('[{"flowdsl-index":"/1"},{"flowdsl-index":"/0"}]')
    pod = check(step.run(tmp_path, values, readers=readers, python=python))
    shared, parts = "kind=<Kind.A: 1>, notes={'a': 1}", "parts=['parts/2/0-x', 'parts/2/1']"
    assert json.loads(pod.values["return"]) == [
        f"Score(loss=3.0, {shared}, model='m/2', log='logs/2', {parts}, label='l', name='\"{{x}}\"')",
        f"Score(loss=nan, {shared}, model='m/0', log=None, parts=[], label=None, name='\"{{x}}\"')",
        f"Score(loss=nan, {shared}, model='m/1', log=None, parts=[], label=None, name='\"{{x}}\"')",
        "[(5, '/v/a'), (7, '/v/b')]",
        "['a \"b\"']",
        "['paths/0', 'paths/1']",
    ]


def test_a_row_that_is_wrong_is_named(tmp_path: Path) -> None:
    source = '@step(image="python")\ndef step(values: list[float]) -> None:\n    pass\n'
    readers = {"values": FromRows("FLOWDSL_values", t.FLOAT)}
    rows = '[{"flowdsl-index":"/0","return":"1"},{"flowdsl-index":"/3","return":"x"}]'
    pod = Step(source, tmp_path).run(tmp_path, {"values": rows}, readers=readers)
    assert pod.code == 1
    assert pod.stderr == (
        "step step, input values (list[float]): item /3: could not convert string to float: 'x'\n"
    )


def test_values_in_parts(tmp_path: Path) -> None:
    source = """
from pathlib import Path
from typing import NamedTuple
class Score(NamedTuple):
    loss: float
    model: Path
@step(image="python")
def step(best: Score, files: list[Path], pair: tuple[int, Path], table: dict[str, Path], free: object) -> str:
    return repr((best, files, pair, table, free)).replace("PosixPath", "")
"""
    step = Step(source, tmp_path)
    file = FromFile("/a/b")
    readers: dict[str, Reader] = {
        "best": FromParts((FromEnv("FLOWDSL_loss", t.FLOAT), file), ("loss", "model"), step.type_of("best")),
        "files": FromParts((file, FromEnvPath("FLOWDSL_at")), (), step.type_of("files")),
        "pair": FromParts((FromEnv("FLOWDSL_n", t.INT), file), ("0", "1"), step.type_of("pair")),
        "table": FromParts((file,), ('a "b" {{=1}} $$',), step.type_of("table")),
        "free": FromParts((FromParts((FromEnv("FLOWDSL_n", t.INT),), ("x",)),), (), t.JSON),
    }
    pod = step.run(tmp_path, {"loss": "2", "at": "/v/x", "n": "3"}, readers=readers)
    assert pod.code == 1, "the text has double braces"
    readers["table"] = FromParts((file,), ('a "b" $$',), step.type_of("table"))
    pod = check(step.run(tmp_path, {"loss": "2", "at": "/v/x", "n": "3"}, readers=readers))
    assert pod.values["return"] == (
        "(Score(loss=2.0, model=('/a/b')), [('/a/b'), ('/v/x')], (3, ('/a/b')), "
        "{'a \"b\" $$': ('/a/b')}, [{'x': 3}])"
    )
    pod = step.run(tmp_path, {"loss": "x", "at": "/v/x", "n": "3"}, readers=readers)
    assert pod.stderr == ("step step, input best.loss (float): could not convert string to float: 'x'\n")
