"""`graph`: drawings in words and as a picture."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.files import PIPELINE, WRONG, write
from tests.commands import Result

if TYPE_CHECKING:
    from collections.abc import Callable


def test_graph(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    assert flowdsl("graph", "pipeline.py") == (0, 'flowchart TD\n  n0["hello"]\n', "")
    assert flowdsl("graph", "pipeline.py", "--as", "dot").out.startswith('digraph "greet" {\n')
    assert flowdsl("graph", "pipeline.py", "--svg", "a.svg") == (0, "", "")
    assert Path("a.svg").read_text(encoding="utf-8").startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    write("pipeline.py", WRONG)
    assert flowdsl("graph", "pipeline.py").code == 2


def test_a_drawing_in_a_file(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    assert flowdsl("graph", "pipeline.py", "--as", "dot", "-o", "one.dot") == (0, "", "")
    assert Path("one.dot").read_text(encoding="utf-8") == flowdsl("graph", "pipeline.py", "--as", "dot").out
    assert flowdsl("graph", "pipeline.py", "-o", "pipeline.py").code == 2


def test_a_manifest(flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    write("pipeline.py", PIPELINE)
    assert flowdsl("compile", "pipeline.py", "-o", "greet.yaml").code == 0
    drawn = (0, 'flowchart TD\n  n0["hello"]\n', "")
    assert flowdsl("graph", "greet.yaml") == drawn
    assert flowdsl("graph", "greet.yaml:greet") == drawn
    monkeypatch.setattr("sys.stdin", io.StringIO(Path("greet.yaml").read_text(encoding="utf-8")))
    assert flowdsl("graph", "-") == drawn
    assert flowdsl("graph", "greet.yaml", "-o", "greet.yaml").code == 2
    write(
        "greet.yaml",
        Path("greet.yaml").read_text(encoding="utf-8").replace("entrypoint: greet", "entrypoint: x"),
    )
    code, out, err = flowdsl("graph", "greet.yaml")
    assert (code, out) == (2, "")
    assert "there is no template `x`" in err
    write("other.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    code, out, err = flowdsl("graph", "other.yaml")
    assert (code, out) == (2, "")
    assert err.endswith("flowdsl: other.yaml: there is no Workflow, CronWorkflow or template in that file\n")


def test_a_picture_without_its_extra(flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    write("pipeline.py", PIPELINE.replace("    hello(name)", "    said = hello(name)\n    hello(said)"))
    monkeypatch.setitem(sys.modules, "grandalf.graphs", None)
    code, out, err = flowdsl("graph", "pipeline.py", "--svg", "a.svg")
    assert (code, out, err) == (2, "", "flowdsl: --svg needs an extra: pip install 'flowdsl[svg]'\n")
    assert not Path("a.svg").exists()
