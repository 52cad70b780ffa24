"""The command as a process: interruptions, bugs, readers that go, streams, and what it loads."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.commands import MODULES
from flowdsl.cli.process import signals_like_ctrl_c
from tests.cli.files import PIPELINE, WRONG, listing, write
from tests.commands import Result, finished, process

if TYPE_CHECKING:
    from collections.abc import Callable


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


@pytest.mark.parametrize("module", ["flowdsl", "flowdsl.cli"])
def test_the_command_as_a_module(module: str) -> None:
    command = [sys.executable, "-m", module, "compile"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("flowdsl: FILE is missing\n")


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
