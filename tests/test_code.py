"""Packages and modules of the user's own: what a script does before anything of the user's is executed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Reference

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.ir import Code
from flowdsl.compiler.load import load
from flowdsl.compiler.options.code import is_pinned
from flowdsl.compiler.steps.script_prepare import PACKAGES, prepared
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.requirement import requirement

if TYPE_CHECKING:
    from pathlib import Path

RIGHT = {
    "numpy==2.1": True,
    "numpy == 2.1": True,
    "numpy": False,
    "numpy>=2,<3": False,
    "numpy (==2.1)": True,
    "numpy==2.*": False,
    "numpy~=2.1": False,
    "numpy===2.1-custom": True,
    "torch[cuda,extra]==2.7.1+cu128": True,
    "torch [cuda] >= 2.7rc1": False,
    "a.b-c_d==1!2.0.post1.dev3": True,
    'tomli==2.0; python_version < "3.11"': True,
    'x==1; (os_name == "nt" or sys_platform != "linux") and "x" in extra': True,
    "tools @ https://example.com/tools-1.0-py3-none-any.whl": True,
    "tools @ git+https://example.com/tools.git@v1.0": True,
    "tools @ git+ssh://git@example.com/tools.git": False,
    "tools@https://example.com/t.whl ; python_version >= '3.9'": True,
    "numpy!=2.0.*,>=1.26": False,
    "numpy>=2,": False,
}
WRONG = [
    "",
    " ",
    "numpy=2.1",
    "numpy 2.1",
    "numpy==",
    "numpy==2.1 pandas",
    "-r requirements.txt",
    "--index-url=https://example.com",
    "./tools",
    "git+https://example.com/tools.git",
    "numpy[==1",
    "numpy>=2.*",
    "numpy~=2",
    "numpy==2.1; python_version",
    "numpy==2.1; python_version > 3",
    "numpy==2.1; (python_version > '3'",
    "numpy==2.1;",
    "tools @",
    "numpy==2.1$(id)",
    "numpy==2.1`id`",
]


@pytest.mark.parametrize("text", RIGHT)
def test_a_requirement_is_read(text: str) -> None:
    assert Reference(text)
    assert requirement(text).pinned is RIGHT[text]
    assert requirement(text).name == Reference(text).name


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_requirement_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequirement):
        Reference(text)
    with pytest.raises(GrammarError) as caught:
        requirement(text)
    assert 0 <= caught.value.start <= caught.value.end <= len(text)


@given(st.text(alphabet="ab1.-_[],;=<>~!@ ()'\"*+:/v", max_size=20))
def test_what_is_accepted_is_what_pip_accepts(text: str) -> None:
    try:
        requirement(text)
    except GrammarError:
        return
    assert Reference(text)


@pytest.mark.parametrize(
    ("revision", "pinned"),
    [
        ("v1.4.0", True),
        ("1.4", True),
        ("v2", True),
        ("models-1.4.0", True),
        ("v1.0.0-rc.1", True),
        ("refs/tags/stable", True),
        ("9fceb02d0ae598e95dc970b74767f19372d61af8", True),
        ("9fceb02", False),
        ("main", False),
        ("feature/x", False),
        ("release-2", False),
        (None, False),
    ],
)
def test_a_revision_is_a_commit_or_a_tag(revision: str | None, pinned: bool) -> None:
    assert is_pinned(revision) is pinned


SCRIPT = (
    "from __future__ import annotations\n\nimport json, os, sys\n\n"
    "print(json.dumps([sys.path[:2], os.environ['PYTHONPATH']]))\n"
)


def run(tmp_path: Path, code: Code, pip: str = "") -> subprocess.CompletedProcess[str]:
    """Run a script with its first lines, with a fake pip, and with its folders inside that of the test."""
    (tmp_path / "pip").mkdir(exist_ok=True)
    (tmp_path / "pip" / "__init__.py").touch()
    (tmp_path / "pip" / "__main__.py").write_text(pip, encoding="utf-8")
    text = prepared(SCRIPT, "train", code).replace("/tmp/flowdsl", str(tmp_path))
    (tmp_path / "script.py").write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_pip_gets_the_requirements_as_they_are(tmp_path: Path) -> None:
    asked = ('a==1; python_version > "3"', "b===1$(id){{x}}'\\")
    pip = "import json, os, sys\nopen('asked', 'w').write(json.dumps([sys.argv[1:], os.environ['TMPDIR']]))\n"
    done = run(tmp_path, Code(packages=asked), pip)
    assert done.returncode == 0, done.stderr
    arguments, work = json.loads((tmp_path / "asked").read_text(encoding="utf-8"))
    assert arguments[-2:] == list(asked)
    assert arguments[arguments.index("--target") + 1] == f"{tmp_path}/packages/site"
    assert work == f"{tmp_path}/packages/tmp"
    paths, variable = json.loads(done.stdout)
    assert paths[0] == f"{tmp_path}/packages/site"
    assert variable == f"{tmp_path}/packages/site:{tmp_path}"


def test_a_step_whose_packages_cannot_be_installed_does_not_begin(tmp_path: Path) -> None:
    done = run(tmp_path, Code(packages=("a==1",)), "import sys\nsys.exit('no such package')\n")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.endswith(
        "step train: pip could not install the packages of the step, for the reason above\n"
    )


def test_the_first_lines_hold_nothing_that_argo_or_the_kubelet_replaces() -> None:
    text = prepared(SCRIPT, "train", Code(packages=("a===$(HOME)$${{inputs}}",)))
    assert "{{" not in text
    assert "$(" not in text
    assert PACKAGES in text


def pipeline_of(tmp_path: Path, text: str) -> dict[str, Any]:
    (tmp_path / "own_models.py").write_text("def train() -> int:\n    return 1\n", encoding="utf-8")
    (tmp_path / "pipeline.py").write_text(text, encoding="utf-8")
    compiled = compile_loaded(load(tmp_path / "pipeline.py"))
    assert [one.finding.message for one in compiled.diagnostics] == []
    return {one["name"]: one for one in compiled.documents[0]["spec"]["templates"]}


HEAD = """
import own_models
from flowdsl import Git, Volume, pipeline, step

@step(image="python:3.12-slim"{options})
def train() -> int:
    return own_models.train()

@pipeline({defaults})
def main() -> None:
    train{call}()
"""
CODE = 'code=Git("https://example.com/m.git", revision="v1.0.0")'


@pytest.mark.parametrize(
    ("options", "defaults", "call"),
    [
        (f", {CODE}", "", ""),
        ("", CODE, ""),
        ("", "", f".options({CODE})"),
        ("", 'code=Volume("src")', ""),
        ("", "", '.options(image="registry.example.com/models:1.0", code="image")'),
        ("", 'code="image"', '.options(image="registry.example.com/models:1.0")'),
        (', packages=["Own_Models==1.0"]', "", ""),
    ],
)
def test_a_module_of_the_project_may_be_imported_where_the_run_has_it(
    tmp_path: Path, options: str, defaults: str, call: str
) -> None:
    found = pipeline_of(tmp_path, HEAD.format(options=options, defaults=defaults, call=call))
    (train,) = (one for name, one in found.items() if name != "main")
    assert "import own_models" in train["script"]["source"]


def test_a_package_of_the_project_has_its_modules(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "team-models"\n', encoding="utf-8")
    pipeline_of(tmp_path, HEAD.format(options=', packages=["team_models==1.0"]', defaults="", call=""))


RELATIVE = """
from flowdsl import Volume, pipeline, step

from .shapes import (
    Shape,  # of two
    area as size,
)


@step(image="python:3.12-slim", OPTIONS)
def measure(side: int) -> int:
    if side: from . import shapes; from .more . lengths import length
    text = "from . import nothing"
    return size(Shape(side)) + shapes.EXTRA + length(text)


@pipeline
def nightly(side: int = 2) -> int:
    return measure(side)
"""


@pytest.mark.parametrize("option", ['code=Volume("src") / "lib"', 'packages=["team_models==1.0"]'])
def test_relative_imports_have_full_names_in_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    for name in ("team_models", "team_models.shapes"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    package = tmp_path / "lib" / "team_models"
    (package / "more").mkdir(parents=True)
    shapes = "from typing import NamedTuple\nEXTRA = 1\nclass Shape(NamedTuple):\n    side: int\n"
    shapes += "def area(shape: Shape) -> int:\n    return shape.side**2\n"
    (package / "shapes.py").write_text(shapes, encoding="utf-8")
    (package / "more" / "lengths.py").write_text("length = len\n", encoding="utf-8")
    for folder in (package, package / "more"):
        (folder / "__init__.py").write_text("", encoding="utf-8")
    path = package / "train.py"
    path.write_text(RELATIVE.replace("OPTIONS", option), encoding="utf-8")
    made = compile_loaded(load(path))
    assert [one.finding.message for one in made.diagnostics] == []
    (source,) = (one["script"]["source"] for one in made.documents[0]["spec"]["templates"] if "script" in one)
    assert "\nfrom team_models.shapes import (\n    Shape,  # of two\n" in source
    inside = "from team_models import shapes; from team_models.more.lengths import length\n"
    assert f'    if side: {inside}    text = "from . import nothing"\n' in source
    path.write_text(RELATIVE.replace(", OPTIONS", ""), encoding="utf-8")
    assert {one.finding.code for one in compile_loaded(load(path)).diagnostics} == {"FD310"}


SETTINGS = """
from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    ADAM = "adam"
    SGD = "sgd"


@dataclass(frozen=True)
class Optim:
    kind: Kind = Kind.ADAM
    rate: float = 0.1


@dataclass(frozen=True)
class Config:
    optim: Optim = Optim()
    layers: list[int] = field(default_factory=lambda: [8])
"""

CLASSES = ("Optim", "Kind", "Config")

TRAIN = """
from settings_of_mine import Config

from flowdsl import Volume, pipeline, step


@step(image="python:3.12-slim")
def train(config: Config) -> str:
    return f"{config.optim.kind.name} {config.optim.rate} {config.layers}"


@pipeline(code=Volume("source") / "src")
def nightly(config: Config = Config()) -> str:
    return train(config)
"""


def test_the_classes_of_fields_are_imported_from_their_own_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "settings_of_mine", raising=False)
    (tmp_path / "settings_of_mine.py").write_text(SETTINGS, encoding="utf-8")
    path = tmp_path / "train.py"
    path.write_text(TRAIN, encoding="utf-8")
    made = compile_loaded(load(path))
    assert [one.finding.message for one in made.diagnostics] == []
    (source,) = (one["script"]["source"] for one in made.documents[0]["spec"]["templates"] if "script" in one)
    begin = source.index("from settings_of_mine")
    assert source[begin:].splitlines()[:3] == [f"from settings_of_mine import {one}" for one in CLASSES]
    path.write_text(TRAIN.replace('code=Volume("source") / "src"', ""), encoding="utf-8")
    assert {one.finding.code for one in compile_loaded(load(path)).diagnostics} == {"FD310"}
