"""Pipelines with files made up at random: each step is given the files that Python would give it."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowdsl.compiler.lowering import split
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.phases import ERROR, FAILED, SUCCEEDED
from tests.end_to_end import test_made_up as values
from tests.end_to_end.made_up_files import FILES, Maker, Plain
from tests.end_to_end.run import run
from tests.end_to_end.world import text

REFUSED = {
    **values.REFUSED,
    "FD210": "a choice between records with a file that may be None",
    "FD211": "whether there is a file",
    "FD245": "lists of different lengths",
    "FD297": "a choice between files in different places",
    "FD336": "files of a loop that are not made in it",
    "FD350": "a loop over a list of files that a pipeline takes as a whole",
    "FD637": "items from different kinds of places",
    "FD638": "a choice between files that a loop or pipeline takes",
    "FD639": "a file from outside that a branch passes on",
    "FD644": "items that do not have the same files",
    "FD670": "files of cached items that are gathered",
    "FD896": "a file from outside that a pipeline returns",
}


@pytest.mark.parametrize("options", ["", "(cache=True)", "(store=DATA / 'runs')"])
def test_steps_are_given_the_files_that_python_gives(options: str) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=12, deadline=None)
    @given(st.randoms(use_true_random=True))
    def each(random: Random) -> None:
        pipelines, limit = Maker(random).program(), random.choice((split.LIMIT, 4))
        given = {"n": random.choice((0, 1, 2, 5)), "t": random.choice(("x", "ab")), "xs": [4, 2]}
        manifest = values.compiled(pipelines, limit, FILES.steps, options)
        if isinstance(manifest, str):
            assert manifest in REFUSED
            return
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for one in ("data", "plain"):
                (folder / one).mkdir()
            for one in ("one", "two"):
                (folder / "data" / one).write_text(one.upper(), encoding="utf-8")
            plain = Plain(pipelines, folder / "plain", folder / "data")
            plain.inside(pipelines[-1], given)
            machine = Settings(
                python=sys.executable, mounts={"data": folder / "data"}, cpu=64, memory=1 << 40, grace=2
            )
            texts = {key: text(one) for key, one in given.items()}
            done = run(folder / "run", manifest, texts, "run", machine)
        lines = (line for node in done.nodes.values() for line in node.log.splitlines())
        printed = Counter(line for line in lines if line.split(" ")[0] in FILES.signatures)
        wanted = plain.printed
        if (
            "cache" in options
        ):  # what is the same is done once, or twice where both begin before one has ended
            printed, wanted = Counter({*printed}), Counter({*wanted})
        seen[done.phase] += 1
        made = "".join(one.text() for one in pipelines)
        if plain.failures:
            assert done.phase in (FAILED, ERROR), made
            assert printed <= wanted, made
        else:
            assert (done.phase, printed) == (SUCCEEDED, wanted), made

    each()
    assert seen[SUCCEEDED] > 1
