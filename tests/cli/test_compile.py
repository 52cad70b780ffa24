"""`compile`: what it writes to standard output, of which files, and what it says about them."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.cli.files import PIPELINE, TWO, WRONG, listing, names, write
from tests.commands import Result, finished

if TYPE_CHECKING:
    from collections.abc import Callable


AREA = "@step(image='python:3.12-slim')\ndef area() -> int:\n    return SIDES\n"

AREAS = "@pipeline\ndef areas() -> None:\n    area()\n"


def test_compile_writes_to_standard_output(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    code, out, err = flowdsl("compile", "pipeline.py")
    assert (code, err) == (0, "")
    document = yaml.safe_load(out)
    assert (document["kind"], document["metadata"]["generateName"]) == ("Workflow", "greet-")
    assert listing() == ["pipeline.py"]


@pytest.mark.parametrize("kind", ["workflow", "template", "cluster-template"])
def test_parameters_get_values_in_the_yaml(kind: str, flowdsl: Callable[..., Result]) -> None:
    write(
        "main.py",
        """\
from pathlib import Path
from flowdsl import S3, Volume, pipeline, step


@step(image="python:3.12-slim")
def count(rows: list[int], shuffled: bool, table: Path, words: Path) -> int:
    return len(rows)


@pipeline
def main(
    rows: list[int], shuffled: bool = False, table: Path = S3("a.csv"), words: Path = Volume("data") / "w"
) -> int:
    return count(rows, shuffled, table, words)
""",
    )
    given = ("-p", "rows=[1,2]", "-p", "shuffled=true", "-p", "table=b.csv", "-p", "words=v.txt")
    text = flowdsl("compile", "main.py", "--as", kind, *given).out
    assert yaml.safe_load(text)["spec"]["arguments"] == {
        "parameters": [
            {"name": "rows", "value": "[1, 2]"},
            {"name": "shuffled", "value": "true", "enum": ["true", "false"]},
            {"name": "words", "value": "/flowdsl/volumes/data/v.txt"},
        ],
        "artifacts": [{"name": "table", "s3": {"key": "b.csv"}}],
    }
    spec = text[text.index("\nspec:") + 1 :]
    digest = hashlib.sha256(spec.encode()).hexdigest()[:32]
    assert yaml.safe_load(text)["metadata"]["labels"]["flowdsl.dev/spec"] == digest
    assert flowdsl("compile", "main.py", "--as", kind, *given, "-o", "main.yaml").code == 0
    assert flowdsl("compile", "main.py", "--as", kind, *given, "--check").code == 0
    assert flowdsl("compile", "main.py", "--as", kind, "--check").code == 1


@pytest.mark.parametrize(
    ("file", "given", "said"),
    [
        ("pipeline.py", "nam=x", "-p nam: the pipeline `greet` has no parameter `nam`; did you mean `name`?"),
        ("pipeline.py", "name", "-p name: write -p NAME=VALUE"),
        (
            "two.py",
            "name=x",
            "-p is for one pipeline, and here are `greet`, `good-night`: name it, FILE:NAME",
        ),
    ],
)
def test_parameters_that_cannot_be(file: str, given: str, said: str, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    write("two.py", TWO)
    found = flowdsl("compile", file, "-p", given, "-o", "made.yaml")
    assert (found.code, found.out, found.err) == (2, "", f"flowdsl: {said}\n")
    assert "made.yaml" not in listing()


RATES = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return rate


@pipeline(schedule="0 3 * * *")
def rates(rates: list[float] = [0.1, 0.2]) -> float:
    return train(rates[1])
"""


@pytest.mark.parametrize("kind", ["workflow", "template", "cron"])
def test_values_with_which_a_run_fails(kind: str, flowdsl: Callable[..., Result]) -> None:
    write("rates.py", RATES)
    found = flowdsl("compile", "rates.py", "--as", kind, "-p", "rates=[0.5]", "-o", "made.yaml")
    said = "-p rates=[0.5]: `fromJSON(inputs.parameters['rates'])[1]` fails: index out of range: 1"
    assert (found.code, found.out, said in found.err) == (2, "", True)
    assert "made.yaml" not in listing()
    assert flowdsl("compile", "rates.py", "--as", kind, "-p", "rates=[0.5, 1]", "-o", "made.yaml").code == 0


def test_a_file_with_other_line_ends(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    assert flowdsl("compile", "pipeline.py", "-o", "pipeline.yaml").code == 0
    path = Path("pipeline.yaml")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    code, out, err = flowdsl("compile", "pipeline.py", "--check")
    assert (code, bool(out)) == (1, True)
    assert err.startswith("note: the lines of pipeline.yaml end in CRLF, not in LF; ")
    assert flowdsl("compile", "pipeline.py", "-o", "pipeline.yaml").code == 0
    assert flowdsl("compile", "pipeline.py", "--check").code == 0


def test_the_kind_is_a_choice(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    document = yaml.safe_load(flowdsl("compile", "pipeline.py", "--as", "template").out)
    assert (document["kind"], document["metadata"]["name"]) == ("WorkflowTemplate", "greet")


def test_each_root_pipeline_is_a_document(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", TWO)
    assert names(flowdsl("compile", "pipeline.py").out) == ["greet-", "good-night-"]


@pytest.mark.parametrize(
    ("name", "compiled"), [("inner", "inner-"), ("night", "good-night-"), ("good-night", "good-night-")]
)
def test_a_name_chooses_a_pipeline(name: str, compiled: str, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", TWO)
    assert names(flowdsl("compile", f"pipeline.py:{name}").out) == [compiled]


def test_a_file_may_have_a_colon_in_its_name(flowdsl: Callable[..., Result]) -> None:
    write("a:greet", PIPELINE)
    assert names(flowdsl("compile", "a:greet").out) == ["greet-"]
    assert names(flowdsl("compile", "a:greet:greet").out) == ["greet-"]


def test_a_name_that_no_pipeline_has(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", TWO)
    code, out, err = flowdsl("compile", "pipeline.py:gret")
    assert (code, out) == (2, "")
    assert "error[FD111]: there is no pipeline `gret` in pipeline.py: did you mean `greet`?" in err
    assert "= help: name a pipeline of the file after the colon" in err


def test_a_name_in_a_file_without_pipelines(flowdsl: Callable[..., Result]) -> None:
    write("steps.py", "from flowdsl import step\n\n\n@step(image='python:3.12')\ndef train() -> None: ...\n")
    code, out, err = flowdsl("compile", "steps.py:train")
    assert (code, out) == (2, "")
    assert "error[FD111]: there is no pipeline `train` in steps.py: it has none" in err
    assert "= help: put @pipeline above the function that calls the steps" in err


def test_modules_are_shown_as_other_files_are(flowdsl: Callable[..., Result]) -> None:
    """By their paths from the current folder, also those that a module in another folder needs."""
    for folder in ("lib", "lib/steps"):
        Path(folder).mkdir()
        write(f"{folder}/__init__.py", "")
    write("lib/shapes.py", "SIDES = 4\n")
    write("lib/steps/area.py", "from flowdsl import step\nfrom ..shapes import SIDES\n\n\n" + AREA)
    write("pipeline.py", "from flowdsl import pipeline\nfrom lib.steps.area import area\n\n\n" + AREAS)
    code, _, err = flowdsl("compile", "pipeline.py")
    assert code == 2
    assert err.startswith("lib/steps/area.py:2:1: error[FD310]: `..shapes` is a module of this project")
    assert "found at lib/shapes.py\n" in err


def test_a_file_without_pipelines(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", "x = 1\n")
    code, out, err = flowdsl("compile", "pipeline.py")
    assert (code, out) == (2, "")
    assert err.startswith("error[FD110]: there is no pipeline in pipeline.py\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "try:\n    import kfp\nexcept ImportError:\n    pass\n",
            "the file is written for KFP: write what its",
        ),
        (
            "from metaflow.nothing import FlowSpec\n",
            "the file is written for Metaflow: write what its steps do",
        ),
        ("import flowdsl\nimport kfp.nothing\n", "install `kfp` where flowdsl runs"),
    ],
)
def test_a_file_for_another_tool(text: str, said: str, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", text)
    code, out, err = flowdsl("compile", "pipeline.py")
    assert (code, out) == (2, "")
    assert f"help: {said}" in err


@pytest.mark.parametrize("command", ["compile", "check", "graph"])
def test_a_file_that_is_not_there(command: str, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    code, out, err = flowdsl(command, "pipelin.py")
    assert code == 2
    assert "error[FD102]: there is no file `pipelin.py`" in out + err
    assert "did you mean `pipeline.py`?" in out + err


@pytest.mark.parametrize(("name", "language"), [("ok.yaml", "YAML"), ("ok.json", "JSON")])
def test_yaml_is_not_compiled(name: str, language: str, flowdsl: Callable[..., Result]) -> None:
    write(name, "kind: Workflow\n")
    done = flowdsl("compile", name)
    ways = "`flowdsl check`, `graph`, `run` and `submit` take it, `import` makes a pipeline of it"
    said = f"flowdsl: {name} is {language} already, no Python: {ways}\n"
    assert done == Result(2, "", said)


def test_findings_go_to_standard_error(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", WRONG)
    code, out, err = flowdsl("compile", "pipeline.py")
    assert (code, out) == (2, "")
    assert re.search(r"^pipeline\.py:11:\d+: error\[FD\d+\]: ", err, re.MULTILINE)
    assert [row["line"] for row in json.loads(flowdsl("compile", "pipeline.py", "--format", "json").err)] == [
        11
    ]


@pytest.mark.parametrize(
    ("terminal", "settings", "colours"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {"TERM": "xterm"}, False),
    ],
)
def test_findings_have_colours_where_they_are_seen(
    terminal: bool,
    settings: dict[str, str],
    colours: bool,
    flowdsl: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write("wrong.py", WRONG)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    assert ("\x1b[" in flowdsl("check", "wrong.py").out) == colours
    assert ("\x1b[" in flowdsl("compile", "wrong.py").err) == colours


def test_what_the_file_prints_goes_to_standard_error(flowdsl: Callable[..., Result]) -> None:
    write(
        "pipeline.py",
        PIPELINE.replace("    hello(name)", "    print('traced')\n    hello(name)") + "print('loaded')\n",
    )
    code, out, err = flowdsl("compile", "pipeline.py")
    assert (code, err) == (0, "loaded\ntraced\n")
    assert "loaded" not in out


def test_a_value_of_the_run_that_is_printed_is_called_that(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE.replace("    hello(name)", "    print('to', name)\n    hello(name)"))
    code, _, err = flowdsl("compile", "pipeline.py")
    assert (code, err.partition("\n")[0]) == (0, "to (a value of the run)")
    assert "FD217" in err


def test_what_its_children_print_does_too(folder: Path) -> None:
    prints = ("os.write(1, b'raw ')", "sys.__stdout__.write('kept ')", "subprocess.run(['echo', 'child'])")
    write("pipeline.py", PIPELINE + "\n".join(("import os, subprocess, sys", *prints)))
    code, out, err = finished("compile", "pipeline.py")
    assert code == 0
    assert sorted(err.split()) == ["child", "kept", "raw"]
    assert out.startswith("apiVersion: ")


def test_a_file_that_changes_the_folder_does_not_move_what_is_written(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "data").mkdir()
    write("pipeline.py", PIPELINE + "import os\nos.chdir('data')\n")
    assert flowdsl("compile", "pipeline.py", "-o", "one.yaml").code == 0
    assert (Path.cwd(), (folder / "one.yaml").exists()) == (folder, True)


def test_an_exception_of_the_file_is_shown_as_python_shows_it(flowdsl: Callable[..., Result]) -> None:
    path = write("pipeline.py", "def f():\n    return {}['key']\n\n\nf()\n")
    ran = subprocess.run([sys.executable, path.resolve()], capture_output=True, text=True, check=False)
    for command in ("compile", "check", "graph"):
        assert flowdsl(command, "pipeline.py") == (2, "", ran.stderr)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{}['key']", "KeyError: 'key'"),
        ("name_of = 3; name_of(name)", "TypeError: 'int' object is not callable"),
    ],
)
def test_an_exception_of_a_pipeline_too(line: str, told: str, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE.replace("    hello(name)", f"    {line}"))
    code, out, err = flowdsl("compile", "pipeline.py")
    assert (code, out) == (2, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith(f"{told}\n")
    assert err.count('  File "') == 1


def test_the_file_may_not_end_the_process(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE + "import sys\nsys.exit(0)\n")
    code, out, err = flowdsl("compile", "pipeline.py")
    assert (code, out) == (2, "")
    assert "error[FD105]: the file ends Python when it is loaded: SystemExit(0)" in err


def test_nor_may_a_pipeline(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE.replace("    hello(name)", "    raise SystemExit(0)"))
    code, out, err = flowdsl("compile", "pipeline.py")
    assert (code, out) == (2, "")
    assert "SystemExit" in err
