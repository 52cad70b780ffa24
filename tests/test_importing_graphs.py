"""Graphs made up at random run as pipelines as they do as manifests: the same commands, pods and phase.

Pods are not run: `echo` gives its last word, `false` fails.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.importing.importing import imported
from flowdsl.compiler.load import load
from flowdsl.compiler.manifests import check_manifests, manifests
from flowdsl.compiler.yaml.documents import read
from flowdsl.runtime.local.controller import events
from tests.importing_runs import ran
from tests.made_up import Maker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

Json = dict[str, Any]

#: The warning about a graph whose phase differs: a quirk of `continueOn` in the last task of a graph.
_QUIRK = "in the manifest it succeeds then"


def told(manifest: Json, folder: Path) -> tuple[str, Counter[tuple[str, str]]]:
    """The phase of a run, and the commands and phases of its pods."""
    pods: Counter[tuple[str, str]] = Counter()

    def faked(pod: events.StartPod) -> events.Outcome:
        body: Json = pod.template["container"]
        words = [*body.get("command", []), *body.get("args", [])]
        phase: Literal["Failed", "Succeeded"] = "Failed" if words[0] == "false" else "Succeeded"
        pods[" ".join(words), phase] += 1
        parameters = [
            {**one, "value": one.get("value", "")}
            for one in pod.template.get("outputs", {}).get("parameters", [])
        ]
        outputs: Json = {"exitCode": "0", "parameters": parameters, "artifacts": []}
        if pod.keeps_result:
            outputs["result"] = words[-1] if words[0] == "echo" else ""
        return events.Outcome(phase, "", outputs)

    return ran(manifest, folder, fake=faked)["phase"], pods


def test_made_up_graphs_run_as_their_manifests_do() -> None:
    compared: list[str] = []

    @settings(max_examples=150, deadline=None)
    @given(st.randoms(use_true_random=False))
    def each(random: Random) -> None:
        compared.extend(run_both(random))

    each()
    assert len(compared) > 50  # some of the generated graphs are wrong, or cannot be expressed
    assert {*compared} >= {"Succeeded", "Failed"}  # nearly all that end in Error are wrong


def run_both(random: Random) -> Iterator[str]:
    """Run a generated workflow directly and imported, and compare; yields the phase if both can be run."""
    manifest = Maker(random).workflow()
    text = json.dumps(manifest)
    (wrong,) = check_manifests([manifests(text, "made-up.yaml")])
    if any(one.finding.severity == "error" for one in wrong):
        return
    made = imported([part for one in read(text, "made-up.yaml")[0] for part in one.listed])
    if not made.text:
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pipeline.py")
        file.write_text(made.text, encoding="utf-8")
        compiled = compile_loaded(load(file))
        if any(one.finding.severity == "error" for one in compiled.diagnostics):
            return
        (document,) = compiled.documents
        theirs, ours = told(manifest, Path(folder, "theirs")), told(document, Path(folder, "ours"))
    assert theirs[1] == ours[1], made.text
    assert theirs[0] == ours[0] or any(_QUIRK in one.finding.message for one in made.diagnostics), made.text
    yield theirs[0]
