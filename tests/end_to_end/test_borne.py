"""Failures that a loop or a call may have: a task after it that does not run does not fail the run."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from flowdsl.cli.app import run
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.compiler.lowering import split
from flowdsl.runtime.local.controller.events import Outcome, StartPod
from tests.end_to_end.inside import Done, small
from tests.end_to_end.world import World

HEAD = """\
from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, choice, either, fan_out, maximize, on_exit, on_failure, pipeline, step, sweep, when

PYTHON = "python:3.12-slim"
DATA = Volume("datasets")


class Tried(NamedTuple):
    accuracy: float
    model: Path


@step(image=PYTHON)
def attempt(rate: float) -> Tried:
    if rate > 1:
        raise ValueError("too large")
    model = Path("model.txt")
    model.write_text(str(rate), encoding="utf-8")
    return Tried(rate, model)


@step(image=PYTHON)
def tell(value: float, good: bool = True) -> float:
    if not good:
        raise ValueError("not good")
    return value


"""
SEARCH = '    runs = sweep(attempt, over={"rate": choice(0.5, 2.0, 0.25)}, objective=maximize("accuracy"))\n'
MAIN = "@pipeline\ndef main(limit: float = 10.0, good: bool = True) -> None:\n"
LEAF = """\
    with when(runs.best.accuracy > limit):
        tell(runs.best.accuracy, good)
"""
TRIED = '    tried = fan_out(attempt, over={"rate": [0.5, 2.0]}, keep_going=True)\n'
ASKED = """\
    with when(tried[0].accuracy > limit):
        tell(1.0, good)
"""
BODIES = {
    "a last task": MAIN + SEARCH + LEAF,
    "another task fails": MAIN + SEARCH + LEAF + '    tell.options(name="other")(1.0, good)\n',
    "files": MAIN
    + SEARCH
    + """\
    with when(runs.best.accuracy > limit):
        told = tell(runs.best.accuracy, good)
        tell.options(name="again")(told)
""",
    "a chain": MAIN
    + SEARCH
    + """\
    with when(runs.best.accuracy > limit):
        first = tell(runs.best.accuracy, good)
    with when(either(first, 20.0) < limit):
        tell.options(name="second")(1.0)
""",
    "a loop that keeps going": MAIN + TRIED + ASKED,
    "a call that may fail": MAIN
    + """\
    one = attempt.options(may_fail=True)(2.0)
    with when(either(one.accuracy, 0.5) > limit):
        tell(1.0, good)
""",
    "a called pipeline": "@pipeline\ndef part() -> float:\n"
    + SEARCH
    + "    return tell(0.5)\n\n\n"
    + MAIN
    + """\
    found = part()
    with when(found > limit):
        tell(found, good)
""",
    "within a called pipeline": "@pipeline\ndef part(limit: float, good: bool) -> None:\n"
    + SEARCH
    + LEAF
    + "\n\n"
    + MAIN
    + "    part(limit, good)\n",
    "a store": (MAIN + SEARCH + LEAF).replace("@pipeline", '@pipeline(store=DATA / "runs")'),
    "what runs after a failure": MAIN
    + SEARCH
    + """\
    with on_failure(runs):
        tell.options(name="sorry")(0.0)
    with when(runs.best.accuracy > limit):
        tell(runs.best.accuracy, good)
""",
    "a task beside it": MAIN
    + """\
    one, two = tell(1.0), tell(2.0)
    attempt.options(may_fail=True, after=[one])(two)
    with when(one > limit):
        tell.options(name="first")(one, good)
        tell.options(name="second")(two, good)
""",
    "a last task, and a task beside another": MAIN
    + SEARCH
    + LEAF
    + """\
    one, two = tell(1.0), tell(2.0)
    attempt.options(may_fail=True, after=[one])(two)
    with when(one > limit):
        tell.options(name="first")(one, good)
        tell.options(name="second")(two, good)
""",
    "the end of a run": MAIN
    + "    tell(1.0, good)\n    with on_exit():\n"
    + """\
        one = attempt.options(may_fail=True)(2.0)
        with when(either(one.accuracy, 0.5) > limit):
            tell.options(name="last")(1.0)
""",
}


def document(folder: Path, body: str) -> dict[str, Any]:
    file = folder / "pipeline.py"
    file.write_text(HEAD + body, encoding="utf-8")
    result = compile_loaded(load(file))
    assert not result.failed, [one.finding.message for one in result.diagnostics]
    return result.documents[-1]


def tasks(found: dict[str, Any]) -> list[str]:
    return [
        task["name"]
        for one in found["spec"]["templates"]
        for task in (one["dag"]["tasks"] if "dag" in one else ())
    ]


def tried(pod: StartPod) -> Done | None:
    """What an attempt gives, without its file; other steps of values are run in this process."""
    if pod.template["name"] != "attempt":
        return small(pod)
    (rate,) = (float(one["value"]) for one in pod.template["inputs"]["parameters"] if one["name"] == "rate")
    if rate > 1:
        return Done(Outcome("Failed", "main: Error (exit code 1)", {"exitCode": "1"}), "")
    accuracy = {"name": "accuracy", "value": str(rate)}
    return Done(Outcome("Succeeded", "", {"parameters": [accuracy], "exitCode": "0"}), "")


CASES = [("10.0", "true", True), ("0.1", "true", True), ("0.1", "false", False)]
PLAIN = [name for name in BODIES if name not in ("what runs after a failure", "the end of a run")]


@pytest.mark.parametrize("parted", [False, True])
@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize(("limit", "good", "well"), CASES)
def test_a_task_that_does_not_run_after_a_failure_that_may_be(
    name: str,
    limit: str,
    good: str,
    well: bool,
    parted: bool,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if parted:
        monkeypatch.setattr(split, "LIMIT", 2)
    found = document(world.folder, BODIES[name])
    done = world.run(found, {"limit": limit, "good": good}, fake=tried)
    assert done.phase == ("Succeeded" if well else "Failed")


LOCAL = [
    *((name, *CASES[0]) for name in BODIES if name != "another task fails"),
    *(("a last task", *case) for case in CASES[1:]),
    ("another task fails", "10.0", "false", False),
]


@pytest.mark.parametrize(("name", "limit", "good", "well"), LOCAL)
def test_it_is_so_on_this_machine(
    name: str,
    limit: str,
    good: str,
    well: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pipeline.py").write_text(HEAD + BODIES[name], encoding="utf-8")
    code = run(["run", "pipeline.py", "-q", "--json", "-p", f"limit={limit}", "-p", f"good={good}"])
    out, err = capsys.readouterr()
    assert out, err
    shown = json.loads(out)
    assert (code, shown["phase"]) == ((0, "Succeeded") if well else (1, "Failed"))
    assert "-ended" not in json.dumps(shown["steps"])


CHAIN = """\
    first = attempt.options(may_fail=True)(rate)
    with on_failure(first):
        second = attempt.options(may_fail=True)(rate - 2)
        with on_failure(second):
            third = attempt(rate - 4)
    found = either(either(first, second), third)
    with when(found.accuracy > 0.25):
        tell(found.accuracy)
"""
OF_RATE = "@pipeline\ndef main(rate: float) -> None:\n"
CHAINS = {
    "of a run": OF_RATE + CHAIN,
    "of a branch": f"{OF_RATE}    with when(rate > 0):\n{textwrap.indent(CHAIN, '    ')}",
}


@pytest.mark.parametrize("parted", [False, True])
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize(("rate", "told"), [(0.5, 0.5), (2.5, 0.5), (4.5, 0.5), (4.125, None), (9.0, None)])
def test_the_last_of_several_attempts(
    rate: float, told: float | None, name: str, parted: bool, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    if parted:
        monkeypatch.setattr(split, "LIMIT", 2)
    done = world.run(document(world.folder, CHAINS[name]), {"rate": str(rate)})
    assert done.phase == ("Failed" if rate == 9.0 else "Succeeded")
    values = [one.parameters for one in done.nodes.values() if one.name.split(".")[-1] == "tell"]
    assert [one for one in values if one] == ([{"return": str(told)}] if told else [])


def test_an_attempt_that_has_a_condition_may_be_missing(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.py"
    body = CHAIN.replace("    with on_failure(first):", "    with on_failure(first), when(rate > 3):")
    file.write_text(HEAD + OF_RATE + body, encoding="utf-8")
    found = compile_loaded(load(file)).diagnostics
    assert {one.finding.code for one in found} == {"FD291"}


UNCHANGED = {
    "no condition": SEARCH + "    tell(runs.best.accuracy, good)\n",
    "no last task": SEARCH
    + """\
    with when(runs.best.accuracy > limit):
        first = tell(runs.best.accuracy, good)
    tell.options(name="last")(either(first, 0.0))
""",
    "one condition": """\
    with when(limit > 1):
        runs = sweep(attempt, over={"rate": choice(0.5, 2.0)}, objective=maximize("accuracy"))
        tell(runs.best.accuracy, good)
""",
    "another branch": SEARCH
    + """\
    tell(runs.best.accuracy, good)
    with when(limit > 1):
        tell.options(name="other")(1.0)
""",
    "after a failure": """\
    one = attempt.options(may_fail=True)(2.0)
    with on_failure(one):
        tell(1.0, good)
""",
    "no failure may be": """\
    tried = fan_out(attempt, over={"rate": [0.5, 2.0]})
    with when(tried[0].accuracy > limit):
        tell(1.0, good)
""",
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_what_needs_no_end_has_none(name: str, tmp_path: Path) -> None:
    found = document(tmp_path, MAIN + UNCHANGED[name])
    assert [one for one in tasks(found) if one.endswith("-ended")] == []
    assert "succeed" not in [one["name"] for one in found["spec"]["templates"]]


def test_it_has_a_name_of_its_own(tmp_path: Path) -> None:
    steps = """\
@step(image=PYTHON)
def succeed(value: float) -> float:
    return value


@step(image=PYTHON)
def nothing(value: float) -> float:
    return value


"""
    body = ASKED + '        succeed.options(name="attempt-ended")(nothing(1.0))\n'
    found = document(tmp_path, steps + MAIN + TRIED + body)
    templates = {one["name"]: one for one in found["spec"]["templates"]}
    assert "script" in templates["succeed"]
    (end,) = (one["template"] for one in templates["tried"]["dag"]["tasks"] if one["name"] == "attempt-ended")
    assert re.fullmatch("succeed-[0-9a-f]{4}", end)
    assert [one["name"] for one in templates[end]["dag"]["tasks"]] == ["nothing"]


@pytest.mark.parametrize("version", ["3.6", "3.7", "4.0", "4.1"])
def test_each_argo_gets_the_same(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pipeline.py").write_text(HEAD + BODIES["a loop that keeps going"], encoding="utf-8")
    assert run(["compile", "pipeline.py", "--argo-version", version]) == 0
    assert "depends: attempt.Succeeded || attempt.Failed || attempt.Errored" in capsys.readouterr().out
