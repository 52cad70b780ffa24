"""The text of scripts: what stands in it, and what it leaves to the code of the user."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowdsl.compiler import ports
from flowdsl.compiler.ports import (
    FromBundle,
    FromFile,
    FromFolder,
    FromRows,
    layout,
)
from flowdsl.compiler.steps import script_parts
from flowdsl.compiler.steps.script import quote
from flowdsl.values import types as t
from tests.script.pods import Step, check


# The script itself.
def test_the_whole_text_of_a_small_script(tmp_path: Path) -> None:
    source = """
import math

@step(image="python:3.12-slim")
def step(lr: float, name: str) -> float:
    return math.log(lr) + len(name)
"""
    assert (
        Step(source, tmp_path).script()
        == """from __future__ import annotations

import math


def step(lr: float, name: str) -> float:
    return math.log(lr) + len(name)


def _flowdsl_main():
    import json, os, sys

    def checked(what, function, *values):
        try:
            return function(*values)
        except Exception as error:
            sys.exit(f"step step, {what}: {str(error) or type(error).__name__}")

    def env(variable):
        return os.environb[variable.encode()].decode()

    def wrong(expected, value):
        return TypeError(f"expected {expected}, got {type(value).__name__} {value!r:.80}")

    def scalar(kind, *also):
        def check(value):
            value = value.item() if hasattr(value, "item") else value
            if not isinstance(value, (kind, *also)):
                raise wrong(kind.__name__, value)
            return kind(value)
        return check

    def as_number(check):
        return lambda value: json.dumps(check(value))

    def write(path, encode, value):
        data = encode(value).encode()
        if len(data) > 65536:
            raise ValueError(f"{len(data)} bytes are too many for a value, 65536 is the most: return a Path")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as target:
            target.write(data)

    result = step(
        lr=checked("input lr (float)", float, env("FLOWDSL_lr")),
        name=env("FLOWDSL_name"),
    )
    checked("output return (float)", write, "/tmp/flowdsl-out/return", as_number(scalar(float, int)), result)


if __name__ == "__main__":
    _flowdsl_main()
"""
    )


def test_a_step_without_inputs_and_outputs_has_no_helpers(tmp_path: Path) -> None:
    made = Step('@step(image="python")\ndef step() -> None:\n    print("ran")\n', tmp_path)
    assert made.script().endswith(
        '\n\ndef _flowdsl_main():\n    step()\n\n\nif __name__ == "__main__":\n    _flowdsl_main()\n'
    )
    assert check(made.run(tmp_path)).stdout == "ran\n"


def test_names_of_the_user_are_no_trouble(tmp_path: Path) -> None:
    source = """
import enum
type = "t"
isinstance = 3
json = os = sys = "mine"

def open(): return type

class wrong(enum.Enum):
    A = 1

class row(enum.Enum):
    B = 1

@step(image="python")
def checked(copy: int, kinds: list[wrong], *, result: str, rows: list[row]) -> list[str]:
    return [open(), str(isinstance), json + os + sys, kinds[0].name, rows[0].name, result, str(copy)]
"""
    step = Step(source, tmp_path, "checked")
    assert step.carried.names >= {
        "type",
        "isinstance",
        "json",
        "os",
        "sys",
        "open",
        "wrong",
        "row",
        "checked",
    }
    values = {
        "copy": "1",
        "kinds": '["A"]',
        "result": "r",
        "rows": '[{"flowdsl-index": "/0", "return": "B"}]',
    }
    item = step.type_of("rows")
    assert isinstance(item, t.Sequence)
    readers = {"rows": FromRows("FLOWDSL_rows", item.item)}
    pod = check(step.run(tmp_path, values, readers=readers))
    assert json.loads(pod.values["return"]) == [
        "t",
        "3",
        "mine" * 3,
        "A",
        "B",
        "r",
        "1",
    ]


def test_parameters_by_position_only(tmp_path: Path) -> None:
    source = '@step(image="python")\ndef step(a: int, b: int, /, c: int) -> str:\n    return f"{a}{b}{c}"\n'
    pod = check(Step(source, tmp_path).run(tmp_path, {"a": "1", "b": "2", "c": "3"}))
    assert pod.values["return"] == "123"


def test_processes_that_import_the_script_do_not_run_the_step(tmp_path: Path) -> None:
    source = """
import multiprocessing

def double(n: int) -> int:
    return 2 * n

@step(image="python")
def step(n: int) -> list[int]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.map(double, range(n))
"""
    assert check(Step(source, tmp_path).run(tmp_path, {"n": "3"})).values["return"] == "[0, 2, 4]"


def test_an_exception_of_the_step_is_shown_as_it_is(tmp_path: Path) -> None:
    pod = Step('@step(image="python")\ndef step() -> int:\n    return 1 // 0\n', tmp_path).run(tmp_path)
    assert pod.code == 1
    assert "ZeroDivisionError" in pod.stderr
    assert "return 1 // 0" in pod.stderr


def test_open_braces_are_closed_before_the_last_lines(tmp_path: Path) -> None:
    source = '@step(image="python")\ndef step(x: int) -> str:\n    return "{{"[:x] + "}}" + "{{"[:x]\n'
    text = Step(source, tmp_path).script()
    ending = text[text.index("def _flowdsl_main") :]
    assert text.rindex("}}") > text.rindex("{{")
    assert "{{" not in ending


def test_the_last_lines_hold_nothing_for_argo_or_the_kubelet() -> None:
    for code in script_parts.PARTS.values():
        assert not any(sign in code for sign in ("{{", "}}", "$$", "$("))
    for text in ("{{=1}}", "{{{{", "$$$", "$(ARGO_POD_NAME)", 'a"b\\', "\x07\n", "ü"):
        quoted = quote(text)
        assert eval(quoted) == text  # noqa: S307 -- a literal
        assert not any(sign in quoted for sign in ("{{", "$$", "$("))


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (str, "text"),
        (int, "json"),
        (str | None, "json"),
        (Path, "file"),
        (Path | None, "file"),
        (list[Path], "list"),
        (dict[str, Path], "dict"),
        (list[Path | None], "bundle"),
        (list[Path] | None, "bundle"),
        (tuple[int, Path], "bundle"),
    ],
    ids=str,
)
def test_layouts(kind: object, form: str) -> None:
    described = t.describe(kind)
    assert layout(described) == form
    if t.holds_file(described):
        made = ports.file_reader("/x", described)
        assert type(made) is {"file": FromFile, "bundle": FromBundle}.get(form, FromFolder)
