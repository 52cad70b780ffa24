"""Graphs and names made up at random run as pipelines as they do as manifests: the same commands, pods and phase.

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

    @settings(max_examples=75, deadline=None)
    @given(st.randoms(use_true_random=False))
    def each(random: Random) -> None:
        compared.extend(run_both(Maker(random).workflow()))

    each()
    assert len(compared) > 25  # some of the generated graphs are wrong, or cannot be expressed
    assert {*compared} >= {"Succeeded", "Failed"}  # nearly all that end in Error are wrong


#: Names that are alike, that Python or flowdsl has, or that import gives to what is near.
ALIKE = (
    *(
        "a",
        "a-b",
        "a-2",
        "b",
        "b-a",
        "a-each",
        "each",
        "item",
        "main",
        "run",
        "class",
        "print",
        "str",
        "list",
        "x1",
    ),
    *("x-1", "import", "when", "fan-out", "command", "container", "pipeline", "path", "return", "source"),
)
SPELT = (*ALIKE, "a_", "_a", "A", "a_b", "aB", "AB", "a_2", "None", "Path", "NAME", "modelName", "model-name")


def unique(words: tuple[str, ...], count: int) -> st.SearchStrategy[list[str]]:
    """Some of the words, each once."""
    return st.lists(st.sampled_from(words), min_size=count, max_size=count, unique=True)


def step(name: str, template: str, depends: str = "", **given: str) -> Json:
    """A task."""
    values = [{"name": key, "value": value} for key, value in given.items()]
    task: Json = {"name": name, "template": template, "arguments": {"parameters": values}}
    return {**task, "depends": depends} if depends else task


@settings(max_examples=50, deadline=None)
@given(unique(ALIKE, 4), unique(ALIKE, 4), unique(SPELT, 3), unique(SPELT, 3), unique(SPELT, 2))
def test_names_of_any_kind_are_kept_apart(
    templates: list[str], tasks: list[str], whole: list[str], inputs: list[str], outputs: list[str]
) -> None:
    make, say, inner, main = templates
    first, second, third, fourth = tasks
    of_run = [f"{{{{workflow.parameters.{one}}}}}" for one in whole]
    taken = [f"{{{{inputs.parameters.{one}}}}}" for one in inputs]
    made = [f"{{{{tasks.{first}.outputs.parameters.{one}}}}}" for one in outputs]
    declared = {"parameters": [{"name": one} for one in inputs]}
    files = [{"name": one, "valueFrom": {"path": f"/tmp/{one}"}} for one in outputs]
    shown = {"image": "a:1", "command": ["echo", *taken, of_run[0], "{{workflow.name}}"]}
    said = {"image": "a:1", "command": ["echo", taken[0], of_run[2]]}
    graph = [
        step(first, make, **dict(zip(inputs, [*taken[:2], of_run[1]], strict=True))),
        step(second, say, first, **{inputs[0]: made[0]}),
        {**step(third, say, **{inputs[0]: "{{item}}"}), "withItems": ["x", made[1]], "depends": first},
    ]
    around = [
        step(first, make, **dict(zip(inputs, of_run, strict=True))),
        step(second, inner, first, **dict(zip(inputs, [*made, "1"], strict=True))),
        {**step(third, say, **{inputs[0]: of_run[0]}), "when": f"{of_run[1]} == t"},
        step(fourth, inner, **dict(zip(inputs, of_run, strict=True))),
    ]
    spec = {
        "entrypoint": main,
        "arguments": {"parameters": [{"name": one, "value": "t"} for one in whole]},
        "templates": [
            {"name": make, "inputs": declared, "outputs": {"parameters": files}, "container": shown},
            {"name": say, "inputs": {"parameters": [{"name": inputs[0]}]}, "container": said},
            {"name": inner, "inputs": declared, "dag": {"tasks": graph}},
            {"name": main, "dag": {"tasks": around}},
        ],
    }
    kind = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": f"{make}-"},
    }
    assert [*run_both({**kind, "spec": spec})] == ["Succeeded"]


def run_both(manifest: Json) -> Iterator[str]:
    """Run a generated workflow directly and imported, and compare; yields the phase if both can be run."""
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
