"""docs/comparison.md: what it shows of Hera and KFP is compiled by Hera and KFP, and its tables say what they did.

The peers are in the environment of `make bench`, .venv-bench; FLOWDSL_PEERS names another folder of programs.
"""

from __future__ import annotations

import ast
import math
import os
import re
import runpy
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml

from flowdsl.compiler.lint import lint
from tests.pages import ROOT, blocks

Tool = Literal["flowdsl", "hera", "kfp"]
TOOLS: tuple[Tool, ...] = ("flowdsl", "hera", "kfp")

PAGE = "docs/comparison.md"
PEERS = Path(os.environ.get("FLOWDSL_PEERS", ROOT / ".venv-bench" / "bin"))
NAMES: dict[Tool, str] = {"flowdsl": "flowdsl", "hera": "Hera", "kfp": "KFP"}
FILES: dict[Tool, str] = {"flowdsl": "pipeline.py", "hera": "hera_sweep.py", "kfp": "kfp_sweep.py"}

#: By mistake and tool: what of the file is replaced, and by what; the mistake is where the two begin to differ.
MISTAKES: dict[str, tuple[tuple[str, str], tuple[str, str], tuple[str, str]]] = {
    "the name of an argument is misspelled": (
        ("data=data,", "dta=data,"),
        ('arguments=Artifact(name="data"', 'arguments=Artifact(name="dta"'),
        ("train(data=data.outputs", "train(dta=data.outputs"),
    ),
    "an argument is left out": (
        ("publish(runs.best.model, runs.best.accuracy)", "publish(runs.best.model)"),
        (', "accuracy": chosen.get_parameter("accuracy")}', "}"),
        (', accuracy=chosen.outputs["Output"])', ")"),
    ),
    "a text for a number": (
        ("generate()", 'generate(points="many")'),
        ('generate(name="data")', 'generate(name="data", arguments={"points": "many"})'),
        ("generate()", 'generate(points="many")'),
    ),
    "a text for a number, in the points of the search": (
        ("choice(2, 4, 8)", 'choice("two", "four")'),
        ("choice([2, 4, 8])", 'choice(["two", "four"])'),
        ("choice([2, 4, 8])", 'choice(["two", "four"])'),
    ),
    "an output that the step does not have": (
        ("publish(runs.best.model,", "publish(runs.best.modl,"),
        ('chosen.get_parameter("i")', 'chosen.get_parameter("id")'),
        ('model=chosen.outputs["model"]', 'model=chosen.outputs["modl"]'),
    ),
    "the same, in the condition": (
        ("when(runs.best.accuracy", "when(runs.best.acuracy"),
        ("best.outputs.parameters.accuracy}} >=", "best.outputs.parameters.acuracy}} >="),
        ('If(chosen.outputs["Output"]', 'If(chosen.outputs["Outputs"]'),
    ),
    "Python's `if` for the condition": (
        ("with when(runs.best.accuracy >= min_accuracy):", "if runs.best.accuracy >= min_accuracy:"),
        ("published = publish(", 'if chosen.get_parameter("accuracy") >= 0.95: published = publish('),
        (
            'with dsl.If(chosen.outputs["Output"] >= min_accuracy):',
            'if chosen.outputs["Output"] >= min_accuracy:',
        ),
    ),
    "the name of an option is misspelled": (
        ("retries=1", "retrys=1"),
        ("retry_strategy=", "retry_strategi="),
        ("set_retry", "set_retri"),
    ),
    "memory in a unit that Kubernetes does not have": (
        ('memory="256Mi"', 'memory="256MB"'),
        ('memory_request="256Mi"', 'memory_request="256MB"'),
        ('memory_request("256Mi"', 'memory_request("256MB"'),
    ),
    "a timeout of `30 minutes`": (
        ('"30m"', '"30 minutes"'),
        ('"30m"', '"30 minutes"'),
        ("1800", '"30 minutes"'),
    ),
    "retries below 0": (("retries=1", "retries=-1"), ("limit=1", "limit=-1"), ("retries=1", "retries=-1")),
    "parallelism below 0": (
        ("parallel=4", "parallel=-4"),
        ("parallelism=4", "parallelism=-4"),
        ("parallelism=4", "parallelism=-4"),
    ),
    "an image with a blank in its name": (
        ("image=PYTHON, cpu", 'image="python:3.12 slim", cpu'),
        ("image=PYTHON,\n    resources", 'image="python:3.12 slim",\n    resources'),
        ("image=PYTHON)\ndef train", 'image="python:3.12 slim")\ndef train'),
    ),
    "a mount at a path that is not absolute": (
        ('"/models": MODELS', '"models": MODELS'),
        ('mount_path="/models"', 'mount_path="models"'),
        ('mount_path="/models"', 'mount_path="models"'),
    ),
    "a claim with a name that none can have": (
        ('Volume("models")', 'Volume("My Models")'),
        ('claim_name="models"', 'claim_name="My Models"'),
        ('pvc_name="models"', 'pvc_name="My Models"'),
    ),
}


def source(tool: Tool) -> str:
    """The file of a tool, as the page has it."""
    (found,) = (block.text for block in blocks(PAGE) if block.file == FILES[tool])
    return found


def command(tool: Tool) -> str:
    """The line that compiles it, as the page has it."""
    lines = [block.text for block in blocks(PAGE) if block.language in ("sh", "console")]
    (found,) = (line.removeprefix("$ ").rstrip() for line in lines if FILES[tool] in line)
    return found


def compiled(tool: Tool, text: str, folder: Path) -> tuple[int, str, str]:
    """Run the command over a text: its exit code, the YAML, and what it said."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILES[tool]).write_text(text, encoding="utf-8")
    program, *arguments = shlex.split(command(tool))
    start = [sys.executable, "-m", "flowdsl.cli"] if tool == "flowdsl" else [str(PEERS / program)]
    target = arguments[-1]
    if ">" in arguments:
        arguments = arguments[: arguments.index(">")]
    done = subprocess.run([*start, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if arguments[-1] != target and done.returncode == 0:
        (folder / target).write_text(done.stdout, encoding="utf-8")
    written = folder / target
    return done.returncode, written.read_text("utf-8") if written.exists() else "", done.stdout + done.stderr


def same(name: str, rows: list[str], update: bool) -> None:
    """Assert that a table of the page has these rows; with `--snapshot-update` make it so."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    parts = re.split(rf"(<!-- table: {name} -->\n\n)((?:\|.*\n)*)", text)
    before, mark, table, after = parts
    new = "".join(f"{row}\n" for row in rows)
    if update:
        (ROOT / PAGE).write_text(before + mark + new + after, encoding="utf-8")
    else:
        assert table == new


@pytest.fixture
def update(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("update_snapshots"))


def test_the_sizes(tmp_path: Path, update: bool) -> None:
    rows = ["| | lines of Python, without empty ones | lines of YAML | kB of YAML |", "|---|---|---|---|"]
    for tool in TOOLS:
        code, text, said = compiled(tool, source(tool), tmp_path)
        assert (code, said if code else "") == (0, "")
        python = sum(bool(line.strip()) for line in source(tool).splitlines())
        rows.append(f"| {NAMES[tool]} | {python} | {text.count(chr(10))} | {len(text.encode()) / 1000:.1f} |")
    same("sizes", rows, update)


def test_the_yaml_of_hera_is_right(tmp_path: Path) -> None:
    _, text, _ = compiled("hera", source("hera"), tmp_path)
    (document,) = yaml.load_all(text, Loader=yaml.CSafeLoader)
    assert [problem.finding.message for problem in lint(document)] == []


def verdict(tool: Tool, replaced: tuple[str, str], folder: Path) -> str:
    """What a tool does with a file that has a mistake."""
    right, wrong = replaced
    text = source(tool)
    assert right in text
    code, _, said = compiled(tool, text.replace(right, wrong), folder)
    if code == 0:
        return "compiles"
    alike = next(at for at, (one, other) in enumerate(zip(right, wrong, strict=False)) if one != other)
    at = text.index(right) + alike
    line = text.count("\n", 0, at) + 1
    near = {line} | {
        node.lineno
        for node in ast.walk(ast.parse(text.replace(right, wrong)))
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or 0)
    }
    named = re.findall(rf'{FILES[tool]}(?:", line |:)(\d+)', said)
    return "at its line" if near & {int(number) for number in named} else "refused"


def test_the_mistakes(tmp_path: Path, update: bool) -> None:
    tools = [*TOOLS] * len(MISTAKES)
    pairs = [pair for three in MISTAKES.values() for pair in three]
    folders = [tmp_path / str(number) for number in range(len(pairs))]
    with ThreadPoolExecutor(2) as pool:
        said = [*pool.map(verdict, tools, pairs, folders)]
    rows = [f"| mistake | {' | '.join(NAMES.values())} |", "|---|---|---|---|"]
    for number, name in enumerate(MISTAKES):
        rows.append(f"| {name} | {' | '.join(said[3 * number : 3 * number + 3])} |")
    same("mistakes", rows, update)


PEER_RUN = {
    "hera": """
generate()
train(i="0", rate=0.1, hidden=4)
print(open(sys.argv[1] + "/accuracy").read())
""",
    "kfp": """
class File:
    def __init__(self, path): self.path = path

data = File(sys.argv[1] + "/kfp.txt")
generate.python_func(data)
print(train.python_func(data, File(sys.argv[1] + "/kfp.json"), rate=0.1, hidden=4.0))
""",
}


@pytest.mark.parametrize("tool", ["hera", "kfp"])
def test_the_steps_compute_the_same(tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pipeline.py").write_text(source("flowdsl"), encoding="utf-8")
    own: dict[str, Any] = runpy.run_path("pipeline.py")
    accuracy = own["train"](own["generate"](), rate=0.1, hidden=4).accuracy
    (tmp_path / "data.txt").write_bytes((tmp_path / "moons.txt").read_bytes())
    text = "import sys\n" + source(tool).replace('"/tmp/', f'"{tmp_path}/') + PEER_RUN[tool]
    (tmp_path / "peer.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [PEERS / "python", "peer.py", tmp_path], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert math.isclose(float(done.stdout.splitlines()[-1]), accuracy)
    assert 0.5 < accuracy < 1
