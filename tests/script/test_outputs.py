"""Outputs of scripts: every type, and what is said about a wrong result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.script.pods import Python, Step, check, every_python, names_in

# Outputs.
OUTPUTS = """
import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Optional

class Float32:
    "What numpy's scalars look like."
    def __init__(self, value):
        self.value = value
    def item(self):
        return self.value
    tolist = item

class Kind(enum.Enum):
    A = 1
    ALSO_A = 1

class Text(str):
    pass

@dataclass
class Row:
    kind: Kind
    size: int
    note: Optional[str] = None

@dataclass
class Result:
    text: str
    kind: Kind
    word: Literal["x", "y"]
    mixed: Literal[1, "x"]
    whole: int
    real: float
    flag: bool
    numbers: list[float]
    rows: list[Row]
    table: dict[str, tuple[int, str]]
    anything: Any
    absent: Optional[Row]
    nothing: None

@step(image="python")
def step() -> Result:
    return Result(
        Text("t\\n"), Kind.ALSO_A, "y", 1, True, 3, Float32(True),
        (1, Float32(0.5), float("nan"), float("-inf")),
        [Row(Kind.A, Float32(2)), Row(Kind.A, 3, "{" "{=1}}$$")], {"{{k}}": (1, "v")},
        {"a": [Float32(0.25), (1, 2), float("inf")]}, None, None,
    )
"""


@every_python
def test_outputs_of_all_types(python: Python, tmp_path: Path) -> None:
    pod = check(Step(OUTPUTS, tmp_path).run(tmp_path, python=python))
    assert pod.values == {
        "text": "t\n",
        "kind": "A",
        "word": "y",
        "mixed": "1",
        "whole": "1",
        "real": "3.0",
        "flag": "true",
        "numbers": "[1.0, 0.5, NaN, -Infinity]",
        "rows": '[{"kind": "A", "size": 2, "note": null}, '
        '{"kind": "A", "size": 3, "note": "\\u007b\\u007b=1}}\\u0024\\u0024"}]',
        "table": '{"\\u007b\\u007bk}}": [1, "v"]}',
        "anything": '{"a": [0.25, [1, 2], Infinity]}',
        "absent": "null",
        "nothing": "null",
    }


WRONG_OUTPUTS = {
    ("int", "'x'"): "output return (int): expected int, got str 'x'",
    ("int", "1.0"): "output return (int): expected int, got float 1.0",
    ("float", "None"): "output return (float): expected float, got NoneType None",
    ("bool", "1"): "output return (bool): expected bool, got int 1",
    ("str", "b'x'"): "output return (str): expected str, got bytes b'x'",
    ("str", "'\\ud800'"): "output return (str): 'utf-8' codec can't encode character "
    "'\\ud800' in position 0: surrogates not allowed",
    ("Kind", "'A'"): "output return (Kind): expected Kind, got str 'A'",
    ("Kind", "Other.A"): "output return (Kind): expected Kind, got Other <Other.A: 1>",
    (
        "Tasks",
        "Tasks.A | Tasks.B",
    ): "output return (Tasks): expected one member of Tasks, got Tasks <Tasks.A|B: 3>",
    ("Literal['a']", "'b'"): "output return (Literal['a']): expected one of ('a',), got 'b'",
    ("list[int]", "'12'"): "output return (list[int]): expected list, got str '12'",
    ("list[int]", "[1, None]"): "output return (list[int]): expected int, got NoneType None",
    ("dict[str, int]", "{1: 2}"): "output return (dict[str, int]): expected str as key, got int 1",
    ("list[Row]", "[{'size': 1}]"): "output return (list[Row]): expected Row, got dict {'size': 1}",
    ("timedelta", "90"): "output return (timedelta): expected timedelta, got int 90",
    ("Decimal", "1.5"): "output return (Decimal): expected Decimal, got float 1.5",
    ("list[UUID]", "['x']"): "output return (list[UUID]): expected UUID, got str 'x'",
    ("object", "{1, 2}"): "output return (Any): expected a value that JSON has, got set {1, 2}",
    ("str", "'é' * 40000"): "output return (str): 80000 bytes are too many for a value, 65536 is the most: "
    "return a Path",
    ("list[int]", "[10**6] * 8000"): "output return (list[int]): 72000 bytes are too many for a value, "
    "65536 is the most: return a Path",
    ("Row", "None"): "result: expected a result with size, got NoneType None",
    ("Row", "(1,)"): "result: expected a result with size, got tuple (1,)",
    ("Row", "Row('x')"): "output size (int): expected int, got str 'x'",
    ("tuple[int, int]", "(1, 2, 3)"): "result: expected 2 values, got tuple (1, 2, 3)",
    ("tuple[int, int]", "None"): "result: expected 2 values, got NoneType None",
    ("tuple[int, int]", "(1, 'x')"): "output item-1 (int): expected int, got str 'x'",
    ("Path", "'model.bin'"): "output return (Path): expected Path, got str 'model.bin'",
    ("Path", "None"): "output return (Path): expected Path, got NoneType None",
    ("Path", "Path('gone')"): "output return (Path): the path gone does not exist",
    ("Path", "Path('../out/..')"): "output return (Path): the folder ../out/.. holds the outputs "
    "of all steps: return one inside it",
    ("list[Path]", "['x']"): "output return (list[Path]): expected Path, got str 'x'",
    ("list[Path]", "Path('.')"): "output return (list[Path]): expected list, got PosixPath PosixPath('.')",
    ("dict[str, Path]", "{'a/b': Path('.')}"): "output return (dict[str, Path]): the key 'a/b' cannot be "
    "the name of a file",
    ("dict[str, Path]", "{'..': Path('.')}"): "output return (dict[str, Path]): the key '..' cannot be "
    "the name of a file",
    ("list[File]", "[File(Path('gone'))]"): "output return (list[File]): the path gone does not exist",
}  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), WRONG_OUTPUTS, ids=str)
def test_a_wrong_result_ends_with_one_sentence(kind: str, value: str, tmp_path: Path) -> None:
    source = (
        "import enum\nfrom datetime import timedelta\nfrom decimal import Decimal\nfrom pathlib import Path\n"
        "from typing import Any, Literal, NamedTuple\nfrom uuid import UUID\n"
        "class Kind(enum.Enum):\n    A = 1\nclass Other(enum.Enum):\n    A = 1\n"
        "class Tasks(enum.Flag):\n    A = 1\n    B = 2\n"
        "class Row(NamedTuple):\n    size: int\nclass File(NamedTuple):\n    path: Path\n"
        f'@step(image="python")\ndef step() -> {kind}:\n    print("ran")\n    return {value}\n'
    )
    pod = Step(source, tmp_path).run(tmp_path)
    assert (pod.code, pod.stdout) == (1, "ran\n")
    assert pod.stderr == f"step step, {WRONG_OUTPUTS[kind, value]}\n"
    assert "return" not in names_in(pod.out)
