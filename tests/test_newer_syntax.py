"""Syntax of the Python that compiles, which that of an image does not have: cases that older Pythons cannot read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load

if TYPE_CHECKING:
    from pathlib import Path

FILE = """
from flowdsl import pipeline, step

{helper}
@step(image="python:3.{image}-slim")
def count(row: dict[str, int], text: str) -> str:
    {body}


@pipeline
def nightly() -> None:
    count({{"a": 1}}, "a")
"""
NESTED = "a text in the quotes of the f-string that it is in"
CASES = [
    # The Python that parses it; a helper; the body of the step; the finding, or nothing if the image has it.
    (12, "", 'return f"é{row["a"]}"', NESTED),
    (12, "", 'return text + f"{text}" + f"{row[f"{text}"]}"', NESTED),
    (12, "", r"""return f"{'\n'.join([text])}" """, "a backslash in the braces of an f-string"),
    (12, "", 'return f"{text\n    }"', "a line break in the braces of an f-string"),
    (12, "", 'return f"""{text  # why\n    }"""', "a comment in the braces of an f-string"),
    (12, 'def shown(row: dict[str, int]) -> str:\n    return f"{row["a"]}"', "return shown(row)", NESTED),
    (12, "class Box[T]:\n    pass", "return str(Box())", "a parameter for a type"),
    (12, "type Row = dict[str, int]\nROW = Row", "return str(ROW)", "`type`"),
    (
        13,
        "def same[T = int](one: T) -> T:\n    return one",
        "return same(text)",
        "a default of a parameter for a type",
    ),
    (14, "", 'return str(t"{text}")', "a t-string"),
    (
        14,
        "",
        "try:\n        return text\n    except ValueError, TypeError:\n        return ''",
        "`except` with several classes and no brackets",
    ),
    (8, "", "return f\"{row['a']}\" + f'''{text\n    }''' + f'{text}\\n' + \"{'\\n'}\"", ""),
    (8, "", "try:\n        return text\n    except (ValueError, TypeError):\n        return ''", ""),
    (8, "", "return f'{text:>{len(\"a\")}} {text!r} {{#}}'", ""),
]


@pytest.mark.parametrize(("since", "helper", "body", "what"), CASES)
def test_syntax_that_an_image_does_not_have(
    since: int, helper: str, body: str, what: str, tmp_path: Path
) -> None:
    if sys.version_info < (3, since):
        pytest.skip(f"Python 3.{since} reads it")

    def said(image: int) -> list[str]:
        text = FILE.format(helper=helper and helper + "\n\n", image=image, body=body)
        (tmp_path / "case.py").write_text(text, encoding="utf-8")
        return [one.finding.message for one in compile_loaded(load(tmp_path / "case.py")).diagnostics]

    older = since - 1
    expected = f"{what} needs Python 3.{since}, and the image `python:3.{older}-slim` has 3.{older}"
    assert (expected in said(older)) if what else (said(older) == [])
    assert said(since) == []


LATE = """
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowdsl import Volume, pipeline, step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from numpy import ndarray


def norm(rows: ndarray, power: int) -> ndarray:
    return rows


@dataclass
class Point:
    row: ndarray

    def moved(self, by: ndarray) -> ndarray:
        return by


@step(image="python:3.12-slim")
def load(rows: Sequence[int]) -> Later:
    norm(rows)
    return Later(rows[0])


@step(image="python:3.12-slim")
def point(row: int) -> Point:
    return Point(row)


@dataclass
class Later:
    row: int


@pipeline
def nightly(table: Nothing) -> None:
    point(load([1]).row)
"""


@pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are evaluated where they are written")
def test_annotations_that_only_type_checkers_know_are_said_without_the_import_of_the_future(
    tmp_path: Path,
) -> None:
    said: list[list[tuple[str, str]]] = []
    for name, head in (("without.py", ""), ("with.py", "from __future__ import annotations\n")):
        (tmp_path / name).write_text(head + LATE, encoding="utf-8")
        found = compile_loaded(load(tmp_path / name)).diagnostics
        said.append([(one.finding.code, f"{one.finding.message}: {one.finding.caption}") for one in found])
    assert said[0] == said[1]
    assert {code for code, _ in said[0]} == {"FD286", "FD288", "FD880", "FD890"}
