"""Gates: what is asked of whom, and what takes the answer."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.app import run
from tests.commands import Result, Terminal, finished
from tests.run.files import GATE, rows

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_gate_says_what_it_takes(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "gate.py").write_text(
        GATE.replace("-> str:\n    raise", "-> bool:\n    raise").replace("who: str", "who: bool")
    )
    assert (
        "--fake gate=maybe: `gate` is bool: it must be true or false"
        in flowdsl("gate.py", "--fake", "gate=maybe").err
    )
    done = flowdsl("gate.py", "--name", "one")
    assert done.code == 4
    assert done.err.endswith("--fake gate.return=VALUE\n  gate.return is one of true, false\n")
    done = flowdsl("--resume", "one", "--fake", "gate=maybe")
    assert done.code == 2
    assert "--fake gate=maybe: `return` is one of true, false" in done.err
    assert run(["compile", "gate.py", "-o", "gate.yaml"]) == 0
    runs = sorted(Path(".flowdsl/runs").iterdir())
    done = flowdsl("gate.yaml", "--fake", "gate=maybe")
    assert (done.code, done.err) == (2, "flowdsl: --fake gate=maybe: `return` is one of true, false\n")
    assert sorted(Path(".flowdsl/runs").iterdir()) == runs, "a run that is refused leaves nothing"
    assert flowdsl("--resume", "one", "--fake", "gate=true", "--approve").code == 0


def test_a_gate_waits_for_somebody(flowdsl: Callable[..., Result]) -> None:
    done = flowdsl("gate.py", "--name", "one")
    assert done.code == 4
    assert done.err.endswith(
        "waits for an answer to gate:\n  flowdsl run --resume one --fake gate.return=VALUE\n"
    )
    assert flowdsl("--resume", "one", "--approve").code == 4, "an answer is needed"
    done = flowdsl("--resume", "one", "--fake", "gate=me")
    assert done.code == 4
    assert done.err.endswith("waits for somebody to approve door:\n  flowdsl run --resume one --approve\n")
    done = flowdsl("--resume", "one", "--approve")
    assert done.code == 0
    assert "going on: 1 step is done\n" in done.err
    assert ["return", "hello", "me"] in rows(done.out)
    done = flowdsl("--resume", "@latest")
    assert done.code == 0
    assert done.err == "the run one had ended already\n"
    assert ["return", "hello", "me"] in rows(done.out)


def test_what_follows_a_run_shows_the_question_of_a_gate(
    flowdsl: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = GATE.replace("gate() -> str:", 'gate() -> str:\n    """Who goes\n    there?"""')
    (folder / "gate.py").write_text(gate)
    done = flowdsl("gate.py", "--name", "one")
    assert (done.code, "\ngate: waits: Who goes there?\n" in done.err) == (4, True)
    assert finished("watch", "one").err.startswith("gate: waits: Who goes there?\n")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert run(["watch", "one"]) == 4
    assert re.search(r" gate.*s  Who goes there\?", terminal.getvalue())


def test_a_gate_alone_is_called_as_in_the_whole_run(flowdsl: Callable[..., Result]) -> None:
    given = ("--fake", "gate=me", "--fake", "door=")
    assert flowdsl("gate.py", "--name", "one", *given).code == 0
    done = flowdsl("gate.py", "--only", "gate", "--name", "two")
    assert done.code == 4
    assert done.err.endswith(
        "waits for an answer to gate:\n  flowdsl run --resume two --fake gate.return=VALUE\n"
    )
    assert ["return", "you"] in rows(flowdsl("--resume", "two", "--fake", "gate.return=you").out)


GATES = """\
from typing import Literal

from flowdsl import approve, fan_out, pipeline


@approve()
def gate(n: int) -> Literal["ship", "hold"]:
    raise NotImplementedError


@pipeline
def gates() -> list[str]:
    return fan_out(gate, over={"n": [1, 2]})
"""


def test_one_answer_is_for_all_rounds(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "gates.py").write_text(GATES, encoding="utf-8")
    done = flowdsl("gates.py", "--name", "one")
    assert done.code == 4
    assert done.err.endswith(
        "waits for an answer to gate:\n  flowdsl run --resume one --fake gate.return=VALUE\n"
        "  gate.return is one of ship, hold\n"
    )
    assert flowdsl("--resume", "one", "--fake", "gate.return=ship").code == 0


RELEASE = """\
from typing import Literal, NamedTuple

from flowdsl import approve, pipeline


class Decision(NamedTuple):
    verdict: Literal["ship", "hold"]
    name: str
    copies: int = 3


@approve()
def release(accuracy: float) -> Decision:
    \"\"\"Release this model?\"\"\"
    raise NotImplementedError


@pipeline
def releasing(accuracy: float = 0.5) -> int:
    return release(accuracy).copies
"""


def test_a_person_is_asked_until_the_answers_fit(
    flowdsl: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "release.py").write_text(RELEASE)
    monkeypatch.setattr(sys, "stdin", Terminal("maybe\nship\n\nme\nmany\n7\ny\n"))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    done = flowdsl("release.py", "--name", "one", "--quiet", "-p", "accuracy=0.75")
    assert done.code == 0
    assert ["return", "7"] in rows(done.out)
    verdict, name, copies = (
        f"release: value of {one}: " for one in ("verdict (ship, hold)", "name", "copies [3]")
    )
    assert done.err.splitlines() == [
        "release: accuracy is 0.75",
        "release: Release this model?",
        f"{verdict * 2}{name * 2}{copies}release: copies is int: it is not a whole number",
        f"{copies}release: go on? [y/N] ",
    ]


@pytest.mark.parametrize("typed", ["ship\nme\n\nn\n", "ship\nme\n\n", "", "hold\n", "hold\n\n"])
def test_a_person_who_does_not_say_yes_is_waited_for(
    flowdsl: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    (folder / "release.py").write_text(RELEASE)
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    done = flowdsl("release.py", "--name", "one", "--quiet")
    assert done.code == 4
    assert "--fake release.verdict=VALUE --fake release.name=VALUE\n" in done.err


def test_a_gate_asks_also_while_deadlines_and_servers_go_on(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "gate.yaml").write_text(
        """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: gate}
spec:
  entrypoint: main
  activeDeadlineSeconds: 3600
  templates:
    - name: main
      steps:
        - [{name: server, template: server}]
        - [{name: first, template: first}]
        - [{name: gate, template: gate}]
    - {name: server, daemon: true, container: {image: busybox, command: [sleep, "600"]}}
    - {name: first, timeout: 1h, container: {image: busybox, command: [sh, -c, ":"]}}
    - {name: gate, suspend: {}}
"""
    )
    assert flowdsl("gate.yaml", "--name", "one").code == 4
    assert flowdsl("--resume", "one", "--approve").code == 0
