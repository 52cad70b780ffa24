"""The command line: what it writes where, its exit codes, its help. Goldens are in tests/cli."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import yaml

from flowdsl.cli.app import run
from flowdsl.cli.commands import MODULES, load
from flowdsl.cli.process import signals_like_ctrl_c
from tests.goldens import same

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

GOLDENS = Path(__file__).parent / "cli"

PIPELINE = """\
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def hello(name: str) -> str:
    return f"hello {name}"


@pipeline
def greet(name: str = "you") -> None:
    hello(name)
"""
SEARCH = """\
from flowdsl import choice, minimize, pipeline, step, sweep, when


@step(image="python:3.12-slim")
def attempt(rate: float) -> float:
    return rate * 2


@pipeline
def search(most: float = 1.0) -> None:
    runs = sweep(attempt, over={"rate": choice(0.25, 0.5)}, objective=minimize("return"))
    with when(runs.best * 2 < most):
        attempt(runs.best)
"""
TWO = (
    PIPELINE
    + """

@pipeline
def inner() -> None:
    hello("inside")


@pipeline(name="good-night")
def night() -> None:
    inner()
"""
)
WRONG = PIPELINE.replace("hello(name)\n", "hello(nmae=name)\n", 1)


class Result(NamedTuple):
    code: int
    out: str
    err: str


PART = """\
import fitting
from flowdsl import pipeline, step

@step(image="python:3.12-slim")
def train(n: int) -> int:
    return fitting.fit(n)

@pipeline
def part(n: int) -> int:
    return train(n)
"""
WHOLE = """\
from flowdsl import Volume, pipeline
from part import part

@pipeline(code=Volume("shared") / "src")
def whole(n: int = 1) -> int:
    return part(n)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


@pytest.fixture
def flowdsl(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run a command in this process, in the current folder."""

    def command(*arguments: str) -> Result:
        capsys.readouterr()
        code = run(arguments)
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return command


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def listing(folder: str = ".") -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


def process(*arguments: str, **options: object) -> subprocess.Popen[str]:
    """The command as a process of its own."""
    command = [sys.executable, "-m", "flowdsl.cli", *arguments]
    settings: dict[str, object] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(command, text=True, encoding="utf-8", **settings)  # type: ignore[call-overload, no-any-return]


def finished(*arguments: str, **options: object) -> Result:
    with process(*arguments, **options) as child:
        out, err = child.communicate(timeout=120)
        return Result(child.returncode, out, err)


AREA = "@step(image='python:3.12-slim')\ndef area() -> int:\n    return SIDES\n"
AREAS = "@pipeline\ndef areas() -> None:\n    area()\n"


@contextlib.contextmanager
def unprivileged(folder: Path) -> Generator[None]:
    """Run as a user to whom file modes apply; root temporarily becomes nobody."""
    if os.geteuid() != 0:
        yield
        return
    nobody = 65534
    os.chown(folder, nobody, nobody)
    for path in folder.rglob("*"):
        os.chown(path, nobody, nobody)
    os.seteuid(nobody)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A current folder that everybody can access; those of pytest are private."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    monkeypatch.chdir(path)
    yield path
    path.chmod(0o755)
    shutil.rmtree(path)


# --- help and usage ----------------------------------------------------------------------------------

PAGES = {
    "help": ("--help",),
    "help-init": ("init", "--help"),
    "help-compile": ("compile", "--help"),
    "help-check": ("check", "--help"),
    "help-run": ("run", "--help"),
    "help-sweep": ("sweep", "--help"),
    "help-graph": ("graph", "--help"),
    "help-install-completion": ("--install-completion", "--help"),
    "help-submit": ("submit", "--help"),
    "help-wait": ("wait", "--help"),
    "help-watch": ("watch", "--help"),
    "help-list": ("list", "--help"),
    "help-get": ("get", "--help"),
    "help-logs": ("logs", "--help"),
    "help-fetch": ("fetch", "--help"),
    "help-stop": ("stop", "--help"),
    "help-terminate": ("terminate", "--help"),
    "help-suspend": ("suspend", "--help"),
    "help-resume": ("resume", "--help"),
    "help-retry": ("retry", "--help"),
    "help-delete": ("delete", "--help"),
    "help-top-node": ("top", "node", "--help"),
    "help-top-job": ("top", "job", "--help"),
    "help-doctor": ("doctor", "--help"),
    "help-diff": ("diff", "--help"),
}
USAGE = (
    ("compil", "pipeline.py"),
    ("unheard-of",),
    ("lint", "pipeline.py"),
    ("resubmit", "first"),
    ("help", "run"),
    ("version",),
    ("--unheard-of",),
    ("compile",),
    ("compile", "-"),
    ("compile", "pipeline.py", "other.py"),
    ("compile", "pipeline.py", "other.py", "-o", "a.yaml"),
    ("compile", "pipeline.py", "other.py", "--check", "-p", "name=ada"),
    ("compile", "pipeline.py", "pipeline.py", "--check"),
    ("compile", "pipeline.py", "-o", "deploy/"),
    ("graph", "pipeline.py", "other.py"),
    ("compile", "pipeline.py", "--chek"),
    ("compile", "pipeline.py", "--unheard-of"),
    ("compile", "pipeline.py", "-o"),
    ("compile", "pipeline.py", "-o", "a.yaml", "-o", "b.yaml"),
    ("compile", "pipeline.py", "--as", "workflo"),
    ("compile", "pipeline.py", "--check=perhaps"),
    ("check",),
    ("check", "pipeline.py", "--format", "xml"),
    ("check", "pipeline.py", "--frmat", "json"),
    ("check", "pipeline.py", "--json"),
    ("graph", "pipeline.py", "-o", "one.svg"),
    ("graph", "pipeline.py", "-o", "one.mmd", "--svg", "one.svg"),
    ("run", "pipeline.py", "--engine", "lxc"),
    ("run", "pipeline.py", "--form", "train"),
    ("run", "pipeline.py", "--rate", "0.1"),
    ("submit", "pipeline.py", "--rate=0.1"),
    ("sweep", "pipeline.py", "--rate=0.1,1", "--metric", "loss:min"),
    ("graph", "pipeline.py", "--as", "svg"),
    ("graph", "pipeline.py", "--svg"),
    ("run", "pipeline.py", "--engine"),
    ("--install-completion", "--shell", "tcsh"),
    ("sweep", "pipeline.py", "rate=0.1"),
)


@pytest.mark.parametrize("columns", ["0", "2", "40"])
def test_help_in_any_width(columns: str, folder: Path) -> None:
    # In a process of its own: the console of the help keeps the width that it first had.
    command = [sys.executable, "-m", "flowdsl.cli", "compile", "--help"]
    done = subprocess.run(
        command, env={**os.environ, "COLUMNS": columns}, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Usage: flowdsl compile")


@pytest.mark.parametrize("name", PAGES)
def test_help(name: str, flowdsl: Callable[..., Result], request: pytest.FixtureRequest) -> None:
    code, out, err = flowdsl(*PAGES[name])
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert "Example" in out
    same("\n".join(line.rstrip() for line in out.splitlines()) + "\n", GOLDENS / f"{name}.txt", request)


def test_without_arguments_help_is_shown(flowdsl: Callable[..., Result]) -> None:
    assert flowdsl() == flowdsl("--help")


def test_wrong_usage(flowdsl: Callable[..., Result], request: pytest.FixtureRequest) -> None:
    said: list[str] = []
    for arguments in USAGE:
        code, out, err = flowdsl(*arguments)
        assert (code, out) == (2, "")
        said.append(f"$ flowdsl {' '.join(arguments)}\n{err}")
    same("\n".join(said), GOLDENS / "usage.txt", request)


def test_there_are_no_other_goldens() -> None:
    assert {path.stem for path in GOLDENS.iterdir()} == {*PAGES, "usage", "graph"}


def test_every_example_of_the_help_is_right(flowdsl: Callable[..., Result]) -> None:
    """Each names a command and options that exist."""
    write("pipeline.py", PIPELINE.replace("greet", "nightly"))
    Path("pipelines").mkdir()
    write("pipelines/one.py", PIPELINE)
    Path("manifests").mkdir()
    Path("deploy").mkdir()
    manifest = flowdsl("compile", "pipelines/one.py").out
    for name in ("manifests/one.yaml", "workflow.yaml"):
        write(name, manifest)
    write("flowdsl.toml", "[clusters.gke]\n")
    seen = 0
    for arguments in PAGES.values():
        for line in re.findall(r"^  flowdsl (.*)$", flowdsl(*arguments).out, re.MULTILINE):
            words = shlex.split(re.split(r" [|>] ", line)[0].replace("*", "one"))
            if words[0] not in ("compile", "check", "graph"):  # they need a run, or a cluster
                load().parse_args(words, exit_on_error=False, print_error=False)
                seen += 1
            else:
                assert flowdsl(*words).code in (0, 1), line
                seen += 1
    assert seen >= 8


def test_version(flowdsl: Callable[..., Result]) -> None:
    from flowdsl import __version__

    assert flowdsl("--version") == (0, f"{__version__}\n", "")


# --- compile -----------------------------------------------------------------------------------------


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


def test_the_kind_is_a_choice(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    document = yaml.safe_load(flowdsl("compile", "pipeline.py", "--as", "template").out)
    assert (document["kind"], document["metadata"]["name"]) == ("WorkflowTemplate", "greet")


def names(text: str) -> list[str]:
    return [document["metadata"]["generateName"] for document in yaml.safe_load_all(text)]


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
    assert "error[FD111]: there is no pipeline `gret`: did you mean `greet`?" in err
    assert "= help: name a pipeline of the file after the colon" in err


def test_a_name_in_a_file_without_pipelines(flowdsl: Callable[..., Result]) -> None:
    write("steps.py", "from flowdsl import step\n\n\n@step(image='python:3.12')\ndef train() -> None: ...\n")
    code, out, err = flowdsl("compile", "steps.py:train")
    assert (code, out) == (2, "")
    assert "error[FD111]: there is no pipeline `train`: the file has none" in err
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


@pytest.mark.parametrize("command", ["compile", "graph"])
@pytest.mark.parametrize(("name", "language"), [("ok.yaml", "YAML"), ("ok.json", "JSON")])
def test_yaml_is_not_compiled(command: str, name: str, language: str, flowdsl: Callable[..., Result]) -> None:
    write(name, "kind: Workflow\n")
    done = flowdsl(command, name)
    said = f"flowdsl: {name} is {language} already, no Python: `flowdsl check`, `run` and `submit` take it\n"
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


def test_an_exception_of_the_file_is_shown_as_python_shows_it(flowdsl: Callable[..., Result]) -> None:
    path = write("pipeline.py", "def f():\n    return {}['key']\n\n\nf()\n")
    ran = subprocess.run([sys.executable, path.resolve()], capture_output=True, text=True, check=False)
    for command in ("compile", "check", "graph"):
        assert flowdsl(command, "pipeline.py") == (2, "", ran.stderr)


def test_an_exception_of_a_pipeline_too(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE.replace("    hello(name)", "    {}['key']"))
    code, out, err = flowdsl("compile", "pipeline.py")
    assert (code, out) == (2, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith("KeyError: 'key'\n")
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


# --- compile -o --------------------------------------------------------------------------------------


def test_the_output_is_what_standard_output_gets(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE.replace("hello {name}", "héllo → {name}"))
    text = flowdsl("compile", "pipeline.py").out
    assert flowdsl("compile", "pipeline.py", "-o", "a.yaml") == (0, "", "")
    assert Path("a.yaml").read_bytes().decode() == text
    assert flowdsl("compile", "pipeline.py", "-o", "-") == (0, text, "")
    assert "héllo → " in text
    assert listing() == ["a.yaml", "pipeline.py"]
    assert flowdsl("graph", "pipeline.py", "--svg", "-") == (
        2,
        "",
        "flowdsl: - is not a file: name the one to write\n",
    )


def test_the_same_content_is_not_written_again(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    flowdsl("compile", "pipeline.py", "-o", "a.yaml")
    os.utime("a.yaml", (1, 1))
    before = Path("a.yaml").stat()
    flowdsl("compile", "pipeline.py", "-o", "a.yaml")
    assert (Path("a.yaml").stat().st_mtime_ns, Path("a.yaml").stat().st_ino) == (
        before.st_mtime_ns,
        before.st_ino,
    )
    write("pipeline.py", PIPELINE.replace("you", "world"))
    flowdsl("compile", "pipeline.py", "-o", "a.yaml")
    assert Path("a.yaml").stat().st_mtime_ns > before.st_mtime_ns


def test_a_file_keeps_its_mode_and_a_new_one_has_the_usual(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    write("a.yaml", "old").chmod(0o640)
    before = os.umask(0o027)
    try:
        flowdsl("compile", "pipeline.py", "-o", "a.yaml")
        flowdsl("compile", "pipeline.py", "-o", "b.yaml")
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path("a.yaml").stat().st_mode) == 0o640
    assert stat.S_IMODE(Path("b.yaml").stat().st_mode) == 0o640


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_keeps_its_target(exists: bool, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    Path("real").mkdir()
    if exists:
        write("real/a.yaml", "old")
    Path("a.yaml").symlink_to("real/a.yaml")
    assert flowdsl("compile", "pipeline.py", "-o", "a.yaml").code == 0
    assert Path("a.yaml").readlink() == Path("real/a.yaml")
    assert listing("real") == ["a.yaml"]
    assert Path("real/a.yaml").read_text(encoding="utf-8").startswith("apiVersion: ")


def test_nothing_is_written_when_there_is_an_error(flowdsl: Callable[..., Result]) -> None:
    write("a.yaml", "old")
    for text in (WRONG, "1 / 0\n", "x = (\n", PIPELINE + TWO.replace("inner()\n", "inner(1)\n")):
        write("pipeline.py", text)
        for name in ("a.yaml", "new.yaml"):
            code, out, _ = flowdsl("compile", "pipeline.py", "-o", name)
            assert (code, out) == (2, "")
    assert Path("a.yaml").read_text(encoding="utf-8") == "old"
    assert listing() == ["a.yaml", "pipeline.py"]


def test_a_failed_replacement_leaves_the_old_file(
    flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("pipeline.py", PIPELINE)
    write("a.yaml", "old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    code, out, err = flowdsl("compile", "pipeline.py", "-o", "a.yaml")
    assert (code, out, err) == (2, "", "flowdsl: a.yaml cannot be written: No space left on device\n")
    assert Path("a.yaml").read_text(encoding="utf-8") == "old"
    assert listing() == ["a.yaml", "pipeline.py"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("deploy/a.yaml", "deploy/a.yaml cannot be written: there is no folder deploy"),
        ("pipeline.py/a.yaml", "pipeline.py/a.yaml cannot be written: Not a directory"),
        ("pipeline.py", "pipeline.py is the pipeline itself: name another file to write"),
        ("link.py", "link.py is the pipeline itself: name another file to write"),
        ("train.py", "train.py is Python, which is not overwritten: name another file to write"),
        ("alias", "alias is Python, which is not overwritten: name another file to write"),
        ("round", "round cannot be written: Too many levels of symbolic links"),
    ],
)
def test_an_output_that_cannot_be(name: str, said: str, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    write("train.py", "print()\n")
    Path("link.py").symlink_to("pipeline.py")
    Path("alias").symlink_to("train.py")
    Path("round").symlink_to("round")
    for command in (("compile", "pipeline.py", "-o", name), ("graph", "pipeline.py", "--svg", name)):
        assert flowdsl(*command) == (2, "", f"flowdsl: {said}\n")
    assert Path("pipeline.py").read_text(encoding="utf-8") == PIPELINE
    assert Path("train.py").read_text(encoding="utf-8") == "print()\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (".", ". is a folder: name a file in it, as pipeline.yaml"),
        ("deploy/", "deploy/ is a folder: name a file in it, as deploy/pipeline.yaml"),
    ],
)
def test_a_picture_is_no_folder(name: str, said: str, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    assert flowdsl("graph", "pipeline.py", "--svg", name) == (2, "", f"flowdsl: {said}\n")


def test_a_run_of_somebody_else_does_not_hide_the_others(
    open_folder: Path, flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(open_folder)
    monkeypatch.setenv("KUBECONFIG", str(open_folder / "none"))
    for name in ("mine", "closed"):
        runs = open_folder / ".flowdsl/runs" / name
        runs.mkdir(parents=True)
        for file in ("workflow.json", "journal.jsonl"):
            (runs / file).touch()
    closed = open_folder / ".flowdsl/runs/closed"
    commands = (("get", "other"), ("run", "--resume", "other"))
    # With everything imported, also by the second call of a command: for cyclopts, by pydantic, once it is loaded.
    assert all("mine" in flowdsl(*one).err for one in commands * 2)
    with unprivileged(open_folder):
        closed.chmod(0)
        got, resumed = (flowdsl(*one) for one in commands)
        closed.chmod(0o700)
    assert (got.code, "(the last ones are mine)" in got.err) == (2, True)
    assert resumed == (2, "", "flowdsl: there is no run `other` in .flowdsl/runs; the last ones are mine\n")


@pytest.mark.parametrize("command", ["compile", "check", "run"])
def test_the_current_folder_may_have_been_removed(
    command: str, folder: Path, flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "gone").mkdir()
    monkeypatch.chdir(folder / "gone")
    (folder / "gone").rmdir()
    said = "flowdsl: the current folder was removed: change into one that is there\n"
    assert flowdsl(command, "pipeline.py") == (2, "", said)


def test_several_files_go_to_a_folder(flowdsl: Callable[..., Result]) -> None:
    write("one.py", PIPELINE)
    write("two.py", TWO)
    Path("deploy").mkdir()
    assert flowdsl("compile", "one.py", "two.py", "two.py:night", "--as", "template", "-o", "deploy/") == (
        0,
        "",
        "",
    )
    assert sorted(file.name for file in Path("deploy").iterdir()) == ["night.yaml", "one.yaml", "two.yaml"]
    for target, file in (("one.py", "one.yaml"), ("two.py", "two.yaml"), ("two.py:night", "night.yaml")):
        alone = flowdsl("compile", target, "--as", "template")
        assert alone.out == Path("deploy", file).read_text(encoding="utf-8")
    assert flowdsl("compile", "one.py", "two.py", "--as", "template", "-o", "deploy", "--check") == (
        0,
        "",
        "",
    )
    Path("deploy/two.yaml").write_text("", encoding="utf-8")
    code, out, _ = flowdsl("compile", "one.py", "two.py", "--as", "template", "-o", "deploy", "--check")
    assert (code, out.count("+++ ")) == (1, 1)
    assert out.startswith("--- deploy/two.yaml\tcommitted\n")


def test_one_file_goes_to_a_folder(flowdsl: Callable[..., Result]) -> None:
    write("one.py", PIPELINE)
    assert flowdsl("compile", "one.py", "-o", ".") == (0, "", "")
    assert flowdsl("compile", "one.py", "-o", "./", "--check") == (0, "", "")
    assert flowdsl("compile", "one.py").out == Path("one.yaml").read_text(encoding="utf-8")


def test_of_several_files_none_is_written_with_a_mistake_in_one(flowdsl: Callable[..., Result]) -> None:
    write("one.py", PIPELINE)
    write("two.py", WRONG)
    Path("deploy").mkdir()
    code, out, err = flowdsl("compile", "one.py", "two.py", "-o", "deploy")
    assert (code, out, [*Path("deploy").iterdir()]) == (2, "", [])
    assert err.startswith("two.py:11:")


def test_an_output_without_permission(open_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("pipeline.py", PIPELINE)
    Path("locked").mkdir()
    write("locked/a.yaml", "old")
    write("b.yaml", "old").chmod(0o444)
    run(["compile", "pipeline.py"])  # so that all modules are loaded
    capsys.readouterr()
    Path("locked").chmod(0o555)
    with unprivileged(open_folder):
        for name in ("locked/a.yaml", "locked/new.yaml", "b.yaml"):
            assert run(["compile", "pipeline.py", "-o", name]) == 2
            assert capsys.readouterr() == ("", f"flowdsl: {name} cannot be written: Permission denied\n")
    Path("locked").chmod(0o755)  # so that it can be removed
    assert listing("locked") == ["a.yaml"]
    assert {Path(name).read_text(encoding="utf-8") for name in ("locked/a.yaml", "b.yaml")} == {"old"}


def test_what_is_no_file_is_written_to(folder: Path) -> None:
    write("pipeline.py", PIPELINE)
    os.mkfifo("pipe")
    with process("compile", "pipeline.py", "-o", "pipe") as child:
        assert Path("pipe").read_text(encoding="utf-8").startswith("apiVersion: ")
        child.communicate(timeout=120)
        assert child.returncode == 0
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)


# --- compile --check ---------------------------------------------------------------------------------


def test_check_compares(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    text = flowdsl("compile", "pipeline.py").out
    write("pipeline.yaml", text)
    assert flowdsl("compile", "pipeline.py", "--check") == (0, "", "")
    write("pipeline.yaml", text.replace("you", "me"))
    code, out, err = flowdsl("compile", "pipeline.py", "--check")
    assert (code, err) == (1, "")
    assert out.startswith("--- pipeline.yaml\tcommitted\n+++ pipeline.yaml\tcompiled\n@@ -")
    assert re.findall(r"^([-+ ]) .*value: (me|you)", out, re.MULTILINE) == [("-", "me"), ("+", "you")]
    assert sum(line[0] in "-+" for line in out.splitlines()) == 4
    write("pipeline.py", WRONG)
    code, out, err = flowdsl("compile", "pipeline.py", "--check")
    assert (code, out) == (2, "")
    assert "error[" in err


def test_the_difference_is_a_patch(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    text = flowdsl("compile", "pipeline.py").out
    for old in (
        "",
        "x: 1",
        "x: 1\r\n",
        text[:-1],
        text.replace("\n", "\r\n"),
        f"\x0b\x0c\x1c\u2028\n{text}",
        text * 2,
    ):
        write("pipeline.yaml", old)
        code, out, _ = flowdsl("compile", "pipeline.py", "--check")
        assert code == 1
        write("change.patch", out)
        subprocess.run(["git", "apply", "-p0", "change.patch"], check=True)
        assert Path("pipeline.yaml").read_bytes().decode() == text


def test_check_of_a_file_that_is_not_there_or_not_text(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    text = flowdsl("compile", "pipeline.py").out
    code, out, err = flowdsl("compile", "pipeline.py", "--check", "-o", "deploy/a.yaml")
    assert (code, err) == (1, "")
    assert out.startswith("--- /dev/null\tcommitted\n+++ deploy/a.yaml\tcompiled\n@@ -0,0 +1,")
    Path("a.yaml").write_bytes(text.encode().replace(b"you", b"\xff\xef\xbf\xbd"))
    code, out, err = flowdsl("compile", "pipeline.py", "--check", "-o", "a.yaml")
    assert (code, err) == (1, "")
    assert "\\xff" in out
    Path("deploy/pipeline.yaml").mkdir(parents=True)
    assert flowdsl("compile", "pipeline.py", "--check", "-o", "deploy") == (
        2,
        "",
        "flowdsl: deploy/pipeline.yaml cannot be read: Is a directory\n",
    )


def test_a_folder_that_cannot_be_read(open_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said, within another one and by its own name."""
    write("pipeline.py", PIPELINE)
    for name in ("data", ".hidden"):
        (open_folder / name).mkdir(mode=0)
    with unprivileged(open_folder):
        assert run(["check", "."]) == 0
        assert capsys.readouterr() == ("", "note: data was left out: Permission denied\n")
        assert run(["check", "data"]) == 2
        shown = capsys.readouterr()
        assert shown.out.startswith("error[FD110]: there is no pipeline, YAML or JSON in data\n")
        assert shown.err == "note: data was left out: Permission denied\n"


def test_check_writes_nothing(open_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Proven by a read-only folder, with a module beside the pipeline."""
    write("pipeline.py", "import helper\n" + PIPELINE)
    write("helper.py", "")
    assert run(["compile", "pipeline.py", "-o", "pipeline.yaml"]) == 0
    assert run(["compile", "pipeline.py", "--check", "-o", "other.yaml"]) == 1
    capsys.readouterr()
    open_folder.chmod(0o555)
    before = {path.name: path.stat().st_mtime_ns for path in open_folder.iterdir()}
    with unprivileged(open_folder):
        with pytest.raises(PermissionError):
            write("x", "")
        assert run(["compile", "pipeline.py", "--check"]) == 0
        assert run(["compile", "pipeline.py", "--check", "-o", "other.yaml"]) == 1
        assert run(["check", "pipeline.py"]) == 0
    assert capsys.readouterr().err == ""
    assert {path.name: path.stat().st_mtime_ns for path in open_folder.iterdir()} == before
    assert set(before) == {"pipeline.py", "helper.py", "pipeline.yaml"}


# --- check -------------------------------------------------------------------------------------------


def test_a_pipeline_on_standard_input(
    flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in ("check", "run", "submit"):
        monkeypatch.setattr("sys.stdin", io.StringIO(PIPELINE))
        refused = "flowdsl: a pipeline is a file: name it; on standard input `check`, `run` and `submit` take YAML\n"
        assert flowdsl(command, "-") == (2, "", refused)


def test_modules_of_pipelines_that_are_parts_of_others(flowdsl: Callable[..., Result]) -> None:
    """They have what the calling pipeline provides, whether a folder or its files are checked."""
    write("fitting.py", "def fit(n: int) -> int:\n    return n\n")
    write("part.py", PART)
    write("whole.py", WHOLE)
    assert (
        flowdsl("check", "whole.py")
        == flowdsl("check", ".")
        == flowdsl("check", "part.py", "whole.py")
        == (0, "", "")
    )
    code, out, _ = flowdsl("check", "part.py", "--format", "concise")
    assert (code, out.partition(" `")[0]) == (2, "part.py:1:1: error[FD310]:")
    write("whole.py", WHOLE.replace('@pipeline(code=Volume("shared") / "src")', "@pipeline"))
    code, out, _ = flowdsl("check", ".", "--format", "concise")
    assert (code, out.partition(" `")[0]) == (2, "part.py:1:1: error[FD310]:")


def test_check_reports_on_standard_output(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", WRONG)
    code, out, err = flowdsl("check", "pipeline.py")
    assert (code, err) == (2, "")
    assert out.startswith("pipeline.py:11:")
    assert out.endswith("\n1 error\n")


@pytest.mark.parametrize(("form", "said"), [("text", ""), ("concise", ""), ("json", "[]\n"), ("github", "")])
def test_nothing_found(form: str, said: str, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    write("other.py", PIPELINE)
    assert flowdsl("check", "pipeline.py", "--format", form) == (0, said, "")
    assert flowdsl("check", "pipeline.py", "other.py", "--format", form) == (0, said, "")
    assert flowdsl("compile", "pipeline.py", "--format", form).err == said


def test_several_files_make_one_report(flowdsl: Callable[..., Result]) -> None:
    write("b.py", WRONG)
    write("a.py", WRONG)
    write("fine.py", PIPELINE)
    write("raises.py", "1 / 0\n")
    files = ("b.py", "raises.py", "fine.py", "a.py", "gone.py", "a.py")
    code, out, err = flowdsl("check", *files, "--format", "json")
    assert code == 2
    assert [row["file"] for row in json.loads(out)] == ["a.py", "b.py", "raises.py", None]
    assert err.endswith("ZeroDivisionError: division by zero\n")
    code, out, _ = flowdsl("check", *files)
    assert code == 2
    assert re.findall(r"^(\S+?):\d+:\d+: error|^(\d+ errors?)$", out, re.MULTILINE) == [
        ("a.py", ""),
        ("b.py", ""),
        ("", "3 errors"),
    ]
    assert flowdsl("check", "fine.py", "raises.py").code == 2


def test_two_files_may_have_helpers_of_one_name(flowdsl: Callable[..., Result]) -> None:
    for name in ("one", "two"):
        Path(name).mkdir()
        write(f"{name}/helper.py", f"NAME = {name!r}\n")
        write(f"{name}/pipeline.py", "import helper\n" + PIPELINE + f"assert helper.NAME == {name!r}\n")
    assert flowdsl("check", "one/pipeline.py", "two/pipeline.py") == (0, "", "")


# --- settings ----------------------------------------------------------------------------------------

WARNED = PIPELINE.replace("    hello(name)\n", '    said = hello(name)\n    _ = f"lost: {said}"\n')


def warned(flowdsl: Callable[..., Result]) -> list[str]:
    return [
        row["code"] for row in json.loads(flowdsl("check", "deep/er/pipeline.py", "--format", "json").out)
    ]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", '[tool.flowdsl]\nignore = ["{code}"]\n'),
        ("flowdsl.toml", 'ignore = ["{code}"]\n'),
    ],
)
def test_a_warning_is_silenced_for_the_project(file: str, text: str, flowdsl: Callable[..., Result]) -> None:
    Path("deep/er").mkdir(parents=True)
    write("deep/er/pipeline.py", WARNED)
    (code,) = warned(flowdsl)
    write("deep/pyproject.toml", '[project]\nname = "has no settings"\n')
    write(file, text.format(code=code))
    assert warned(flowdsl) == []
    write("deep/flowdsl.toml", "ignore = []\n")
    assert warned(flowdsl) == [code]


def test_a_misspelt_table_of_clusters_is_one_error(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", WARNED)
    write("flowdsl.toml", 'default-cluster = "lab"\n[cluster.lab]\nargo = "4.1"\n')
    done = flowdsl("check", "pipeline.py")
    assert done.code == 2
    assert "flowdsl.toml:2:2: error[FD675]: there is no `cluster` in the settings" in done.err + done.out
    assert "FD677" not in done.err + done.out


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("flowdsl.toml", "ignore = [\n", "1: error[FD699]: the settings cannot be read: Invalid value"),
        (
            "pyproject.toml",
            "[tool\n",
            "1:6: error[FD699]: the settings cannot be read: Expected ']' at the end of a table declaration",
        ),
        (
            "flowdsl.toml",
            'ignore = "FD310"\n',
            "1:1: error[FD676]: `ignore` in the settings must be a list of codes of warnings, not 'FD310'",
        ),
        (
            "flowdsl.toml",
            "# mine\nignore = ['FD217', 310]\n",
            "2:1: error[FD676]: `ignore` in the settings must be a list of codes of warnings, not 310",
        ),
        (
            "flowdsl.toml",
            'ignore = ["fd310"]\n',
            "1:1: error[FD676]: `ignore` in the settings must be a list of codes of warnings, not 'fd310'",
        ),
        (
            "flowdsl.toml",
            'ignore = ["FD310", "FD999"]\n',
            "1:1: error[FD676]: `ignore` in the settings must be a list of codes of warnings, not 'FD999'",
        ),
        ("flowdsl.toml", "ignroe = []\n", "1:1: error[FD675]: there is no `ignroe` in the settings"),
        (
            "flowdsl.toml",
            "default-cluster = 3\n",
            "1:1: error[FD676]: `default-cluster` in the settings must be the name of a cluster, not 3",
        ),
        (
            "flowdsl.toml",
            "clusters = 3\ndefault-cluster = 'lab'\n",
            "1:1: error[FD676]: `clusters` in the settings must be a table for each cluster, not 3",
        ),
        (
            "flowdsl.toml",
            "default-cluster = 'lab'\n[clusters.laba]\n",
            "1:1: error[FD677]: there is no cluster `lab` in flowdsl.toml",
        ),
        (
            "flowdsl.toml",
            "default-cluster = 'lab'\nclusters.lab = {argo = '4.1', pools = {new = {cpu = 1, gpu = 8}}}\n",
            "2:56: error[FD675]: there is no `gpu` in [clusters.lab.pools.new]",
        ),
        (
            "pyproject.toml",
            "[tool.flowdsl]\nignroe = []\n",
            "2:1: error[FD675]: there is no `ignroe` in [tool.flowdsl]",
        ),
    ],
)
def test_settings_that_cannot_be_used(
    file: str, text: str, said: str, flowdsl: Callable[..., Result]
) -> None:
    write("pipeline.py", PIPELINE)
    write(file, text)
    write("given.yaml", "a: 1\n")
    for name in "pipeline.py", "given.yaml":
        assert flowdsl("check", name, "--format", "concise") == (2, f"{file}:{said}\n", "")
        assert flowdsl("check", name).out.startswith(f"{file}:{said}\n")
        (row,) = json.loads(flowdsl("check", name, "--format", "json").out)
        assert f"{row['line']}" == said.partition(":")[0]
    for command in ("compile", "graph"):
        code, out, err = flowdsl(command, "pipeline.py")
        assert (code, out) == (2, "")
        assert err.startswith(f"{file}:{said}\n")


def test_a_cluster_without_settings(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    said = "error[FD677]: there is no cluster `zz`: there is no flowdsl.toml in `.`, nor above it\n"
    assert flowdsl("check", "pipeline.py", "--cluster", "zz", "--format", "concise") == (2, said, "")


def test_settings_in_an_odd_shape_are_those_of_others(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    write("pyproject.toml", "tool = 1\n")
    assert flowdsl("check", "pipeline.py").code == 0


def test_settings_that_are_not_text(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    Path("flowdsl.toml").write_bytes(b"\xff")
    code, out, err = flowdsl("check", "pipeline.py")
    assert (code, err) == (2, "")
    assert out.startswith(
        "flowdsl.toml:1: error[FD699]: the settings cannot be read: byte 0xff is not UTF-8\n"
    )


def test_settings_behind_a_link_that_leads_nowhere(flowdsl: Callable[..., Result]) -> None:
    """Else the pipeline would be compiled for no cluster in particular."""
    write("pipeline.py", PIPELINE)
    Path("flowdsl.toml").symlink_to("elsewhere.toml")
    code, out, err = flowdsl("compile", "pipeline.py")
    assert (code, out) == (2, "")
    assert err.startswith(
        "flowdsl.toml:1: error[FD699]: the settings cannot be read: No such file or directory\n"
    )


# --- graph -------------------------------------------------------------------------------------------


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


def test_a_picture_without_its_extra(flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    write("pipeline.py", PIPELINE.replace("    hello(name)", "    said = hello(name)\n    hello(said)"))
    monkeypatch.setitem(sys.modules, "grandalf.graphs", None)
    code, out, err = flowdsl("graph", "pipeline.py", "--svg", "a.svg")
    assert (code, out, err) == (2, "", "flowdsl: --svg needs an extra: pip install 'flowdsl[svg]'\n")
    assert not Path("a.svg").exists()


# --- completion --------------------------------------------------------------------------------------


def test_completion_is_installed(flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path("home").resolve()))
    Path("home").mkdir()
    code, out, err = flowdsl("--install-completion", "--shell", "bash")
    assert (code, err) == (0, "")
    script = Path("home/.local/share/bash-completion/completions/flowdsl")
    assert out == f"completion for bash: {script.resolve()}\na new shell uses it\n"
    assert str(script.resolve()) in Path("home/.bashrc").read_text(encoding="utf-8")
    write("pipeline.py", "")
    commands = ("compile", "check x", "run", "submit", "sweep", "graph", "import", "diff", "doctor x")
    asked = [("che", "check"), *((f"{one} pip", "pipeline.py") for one in commands)]
    for words, answer in (*asked, ("compile x --as t", "template")):
        text = f". '{script}'; COMP_WORDS=(flowdsl {words}); COMP_CWORD={len(words.split())}; _flowdsl"
        text += "; echo ${COMPREPLY[@]}"
        ran = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
        assert ran.stdout.split() == [answer]


def test_completion_goes_to_a_file(flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path.cwd()))
    assert flowdsl("--install-completion", "--shell", "zsh", "--output", "deep/_flowdsl").code == 0
    assert Path("deep/_flowdsl").read_text(encoding="utf-8").startswith("#compdef flowdsl")
    assert listing() == ["deep"]
    code, out, err = flowdsl("--install-completion", "--shell", "zsh", "--output", "deep/_flowdsl/x")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.endswith(("Not a directory\n", "File exists\n"))


def test_completion_for_an_unknown_shell(
    flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    from cyclopts.completion import detect

    def fail() -> str:
        raise detect.ShellDetectionError

    monkeypatch.setattr(detect, "detect_shell", fail)
    said = "flowdsl: the shell in use is unknown: name it, as --shell bash\n"
    assert flowdsl("--install-completion") == (2, "", said)


# --- when things go wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stage", ["compiler.argo.to_argo", "compiler.argo.provenance.sealed", "compiler.lint.lint"]
)
def test_a_bug_of_ours(stage: str, flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("lost")

    write("pipeline.py", PIPELINE)
    monkeypatch.setattr(f"flowdsl.{stage}", broken)
    for command in (("compile", "pipeline.py", "-o", "a.yaml"), ("check", "pipeline.py")):
        code, out, err = flowdsl(*command)
        assert (code, out) == (70, "")
        assert err.startswith("This is a bug of flowdsl, not a mistake in your pipeline.\n")
        assert "Traceback (most recent call last):\n" in err
        assert "in broken\n" in err
        assert err.endswith("\nKeyError: 'lost'\n\n")
    assert listing() == ["pipeline.py"]


def test_an_interruption(folder: Path) -> None:
    # Not one long sleep: a signal that arrives just before it is only handled after it.
    write("pipeline.py", "import time\nprint('ready', flush=True)\nwhile True:\n    time.sleep(0.1)\n")
    # A shell lets its background jobs ignore the signal, which child processes inherit.
    settings = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    with process("compile", "pipeline.py", "-o", "a.yaml", **settings) as child:
        assert child.stderr is not None
        assert child.stderr.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
    assert (child.returncode, out, err) == (130, "", "flowdsl: interrupted\n")
    assert listing() == ["pipeline.py"]


INTERRUPTED = """
import sys

class Attribute:
    def __set_name__(self, owner, name):
        raise KeyboardInterrupt

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            {}

sys.meta_path.insert(0, Finder())
from flowdsl_command import main
main()
"""


@pytest.mark.parametrize(
    "where", ["raise KeyboardInterrupt", "type('Owner', (), {'attribute': Attribute()})"]
)
@pytest.mark.parametrize("module", ["flowdsl", "flowdsl.control", "flowdsl.cli.app", "cyclopts"])
def test_an_interruption_while_modules_are_imported(module: str, where: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED.format(where), module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr in ("", "flowdsl: interrupted\n")


def test_an_interruption_in_a_class_of_the_file(flowdsl: Callable[..., Result]) -> None:
    attribute = (
        "class Attribute:\n    def __set_name__(self, owner, name):\n        raise KeyboardInterrupt\n"
    )
    write("pipeline.py", f"{attribute}\n\nclass Owner:\n    attribute = Attribute()\n")
    assert flowdsl("compile", "pipeline.py") == (130, "", "flowdsl: interrupted\n")


IGNORED = """
import signal, time

class Thing:
    def __del__(self):
        signal.raise_signal(signal.{})

Thing()
end = time.monotonic() + 60
while time.monotonic() < end:
    time.sleep(0.1)
"""


@pytest.mark.parametrize(("name", "deaf"), [("SIGINT", False), ("SIGTERM", False), ("SIGTERM", True)])
def test_an_interruption_where_python_ignores_what_is_raised(name: str, deaf: bool, folder: Path) -> None:
    write("pipeline.py", IGNORED.format(name))
    usual = signal.SIG_IGN if deaf else signal.default_int_handler
    settings = {"preexec_fn": lambda: signal.signal(signal.SIGINT, usual)}
    with process("check", "pipeline.py", **settings) as child:
        out, err = child.communicate(timeout=50)
    assert (child.returncode, out) == (128 + getattr(signal, name), "")
    assert err == "flowdsl: interrupted\n"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_what_is_pressed_in_a_row_interrupts_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    number = getattr(signal, name)
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with signals_like_ctrl_c() as came:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        for _ in range(3):
            now += 0.3
            signal.raise_signal(number)
        now += 0.5
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert came == [number, number]


def test_what_else_python_ignores_is_still_told(folder: Path) -> None:
    write(
        "pipeline.py",
        PIPELINE + "\n\nclass Thing:\n    def __del__(self):\n        raise ValueError(7)\n\n\nThing()\n",
    )
    with process("check", "pipeline.py") as child:
        _, err = child.communicate(timeout=50)
    assert child.returncode == 0
    assert "ValueError: 7" in err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("compile", "pipeline.py"), 0),
        (("compile", "pipeline.py", "--check"), 1),
        (("check", "wrong.py"), 2),
        (("graph", "pipeline.py"), 0),
        (("--help",), 0),
        (("--version",), 0),
    ],
)
@pytest.mark.parametrize("together", [False, True])
def test_the_reader_has_gone(arguments: tuple[str, ...], code: int, together: bool, folder: Path) -> None:
    write("pipeline.py", PIPELINE)
    write("wrong.py", WRONG)
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": writer, "stderr": subprocess.STDOUT} if together else {"stdout": writer}
    result = finished(*arguments, **streams)
    os.close(writer)
    assert (result.code, result.err or "") == (code, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
@pytest.mark.parametrize("arguments", [("compile", "pipeline.py"), ("graph", "pipeline.py"), ("--help",)])
def test_the_disk_is_full(arguments: tuple[str, ...], folder: Path) -> None:
    write("pipeline.py", PIPELINE)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        code, _, err = finished(*arguments, stdout=full)
    assert code == 2
    assert re.fullmatch(r"flowdsl: .*No space left on device\n", err)


def test_a_standard_input_that_is_closed_is_empty(folder: Path) -> None:
    def closed(*arguments: str) -> Result:
        command = [sys.executable, "-m", "flowdsl.cli", *arguments]
        with subprocess.Popen(
            ["sh", "-c", 'exec "$@" <&-', "sh", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        ) as child:
            out, err = child.communicate(timeout=120)
            return Result(child.returncode, out, err)

    assert closed("check", "-") == finished("check", "-", stdin=subprocess.DEVNULL)
    write(
        "gate.py",
        "from flowdsl import approve, pipeline\n\n\n@approve()\ndef gate() -> None: ...\n\n\n"
        "@pipeline\ndef asked() -> None:\n    gate()\n",
    )
    done = closed("run", "gate.py")
    assert (done.code, "waits for somebody to approve gate" in done.err) == (4, True), done


def test_standard_output_is_utf8_everywhere(folder: Path) -> None:
    write("pipeline.py", PIPELINE.replace("hello {name}", "héllo → {name}"))
    env = {**os.environ, "PYTHONIOENCODING": "latin-1", "LC_ALL": "C"}
    code, out, err = finished("compile", "pipeline.py", env=env)
    assert (code, err) == (0, "")
    assert "héllo → {name}" in out


def test_a_command_is_found_without_the_modules_of_others() -> None:
    """The table says which commands each module adds, so that one command needs one module."""
    script = "import sys; from flowdsl.cli.commands import load; print(*load(sys.argv[1:]))"
    for names in MODULES.values():
        command = [sys.executable, "-c", script, names[0]]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        added = {name for name in ran.stdout.split() if name not in ("--help", "-h", "--version")}
        assert added - {"--install-completion"} == set(names)


def test_a_command_loads_only_what_it_needs(folder: Path) -> None:
    """No Kubernetes, no HTTP, no parser generator, and nothing that renders help."""
    write("pipeline.py", SEARCH)
    script = "; ".join(
        (
            "import sys",
            "from flowdsl.cli.app import run",
            "code = run(sys.argv[1:])",
            "print(*sys.modules, file=sys.stderr)",
            "sys.exit(code)",
        )
    )
    libraries = {
        "kubernetes",
        "urllib3",
        "requests",
        "httpx",
        "aiohttp",
        "ssl",
        "socket",
        "http",
        "jsonschema",
        "grandalf",
        "plotly",
        "lark",
    }
    for arguments in (
        ("compile", "pipeline.py"),
        ("check", "pipeline.py"),
        ("graph", "pipeline.py"),
        ("--help",),
    ):
        command = [sys.executable, "-c", script, *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        loaded = {name.partition(".")[0] for name in ran.stderr.split()}
        assert "flowdsl" in loaded
        assert not loaded & (libraries if "--help" in arguments else libraries | {"rich"})
