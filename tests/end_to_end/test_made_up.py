"""Pipelines made up at random: each step is given what Python would give it, as often, and what fails fails the run."""

from __future__ import annotations

import tempfile
from collections import Counter
from datetime import date
from decimal import Decimal
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any
from unittest import mock
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.compiler.lowering import split
from flowdsl.runtime.local import prepare
from flowdsl.runtime.phases import ERROR, FAILED, SUCCEEDED
from tests.end_to_end import inside, made_up
from tests.end_to_end.pipelines import made_up as steps
from tests.end_to_end.world import text
from tests.local.simulation import Pod, simulate

Json = dict[str, Any]

WORDS = (
    "Raw, either, failed, fan_out, grid, maximize, minimize, numbers as counted, on_exit, on_failure, otherwise, "
    "pipeline, sweep, unless, when"
)
REFUSED = {
    "FD230": "a condition that is known now",
    "FD233": "`either` of a value that is known now",
    "FD291": "a result that may not be there",
    "FD337": "results of a loop inside another value",
    "FD379": "a text with values of the run that Python compares",
    "FD717": "a condition with the result of a task around what runs when that has failed",
    "FD708": "what runs when another task has ended, in groups",
    "FD355": "`either` of a value that is always there",
}
"""What is made up, and is no pipeline."""


def compiled(
    pipelines: list[made_up.Pipeline], limit: int, module: ModuleType = steps, options: str = ""
) -> Json | str:
    """The manifest of the last pipeline, in groups of so many tasks, or the code of the first error."""
    written = Path(str(module.__file__)).read_text(encoding="utf-8")
    written = written.replace("from flowdsl import ", f"from flowdsl import {WORDS}, ")
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(split, "LIMIT", limit):
        file = Path(folder, "made.py")
        made = "".join(one.text() for one in pipelines)
        made = made.replace("@pipeline\ndef main", f"@pipeline{options}\ndef main")
        file.write_text(f"{written}\n\n{made}", encoding="utf-8")
        result = compile_loaded(load(file), "main")
        if result.failed:
            return next(one.finding.code for one in result.diagnostics if one.finding.severity == "error")
        return result.documents[0]


def ran(manifest: Json, arguments: dict[str, Any]) -> tuple[str, Counter[str]]:
    """The phase of a run, and the lines that its steps printed."""
    printed: Counter[str] = Counter()

    def world(pod: Any) -> Pod:
        done = inside.done(pod)
        lines = done.printed.splitlines()
        printed.update(line for line in lines if line.split(" ")[0] in made_up.VALUES.signatures)
        return Pod(done.outcome)

    found = simulate(prepare.workflow(manifest, {key: text(one) for key, one in arguments.items()}), world)
    assert found.ended is not None
    return found.ended.phase, printed


def arguments(random: Random) -> dict[str, Any]:
    return {
        "n": random.choice((0, 1, 2, 5, -3)),
        "f": random.choice((0.5, 2.0, 1e-7, -3.5)),
        "t": random.choice(("", "x", "ab", "it's", 'q"r', "7")),
        "b": random.random() < 0.5,
        "xs": random.choice(([], [1], [4, 2, 9])),
        "m": random.choice((None, 3, 4)),
        "d": random.choice((date(2026, 1, 1), date(1999, 12, 31))),
        "p": random.choice((Decimal("1.0"), Decimal("1E-9"))),
        "i": UUID(int=random.choice((1, 2))),
    }


@pytest.mark.parametrize("limit", [split.LIMIT, 4])
def test_steps_are_given_what_python_gives(limit: int) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=40, deadline=None)
    @given(st.randoms(use_true_random=True))
    def each(random: Random) -> None:
        pipelines, values = made_up.Maker(random).program(), arguments(random)
        manifest = compiled(pipelines, limit)
        if isinstance(manifest, str):
            assert manifest in REFUSED
            seen["refused"] += 1
            return
        plain = made_up.Plain(pipelines)
        plain.inside(pipelines[-1], values)
        phase, printed = ran(manifest, values)
        seen[phase] += 1
        made = "".join(one.text() for one in pipelines)
        if plain.failures:  # what has not begun when a task fails does not begin
            assert phase in (FAILED, ERROR), made
            assert printed <= plain.printed, made
        else:
            assert (phase, printed) == (SUCCEEDED, plain.printed), made

    each()
    assert seen[SUCCEEDED] > seen["refused"]
