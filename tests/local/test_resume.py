"""A run that is killed at any moment, and taken up again, gives what an uninterrupted run gives."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flowdsl.runtime.local import journal
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.journal import Inputs
from flowdsl.runtime.local.pods.pods import Pods
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.runner import Runner

Json = dict[str, Any]

PROGRAM = """
import json, sys
from pathlib import Path
from tests.local.test_resume import runner

folder, manifest = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
one = runner(folder)
if (folder / "journal.jsonl").exists():
    one.resume()
else:
    from flowdsl.runtime.local.journal import Inputs
    one.begin(Inputs(manifest, [], {}, {}))
"""


def runner(folder: Path) -> Runner:
    """A runner with one claim, whose folder is beside its own."""
    claim = folder.parent / "claim"
    claim.mkdir(exist_ok=True)
    settings = Settings(workflow="wf", mounts={"log": claim}, cpu=8, memory=1 << 34, grace=1)
    return Runner(folder, lambda report: Pods(folder, report, settings))


def manifest() -> Json:
    """A loop, a retry, an artifact that is passed on, and a sum of all: each step records its start."""
    note = "echo $NAME >> /log/began; sleep 0.02; "
    mounts: Json = {
        "image": "busybox:1.36",
        "env": [{"name": "NAME", "value": "{{node.name}}"}],
        "volumeMounts": [{"name": "log", "mountPath": "/log"}],
    }

    def template(name: str, script: str, inputs: Json, outputs: Json, **more: Any) -> Json:
        container = {**mounts, "command": ["sh", "-c", note + script]}
        return {"name": name, "inputs": inputs, "outputs": outputs, "container": container, **more}

    number = {"parameters": [{"name": "n"}]}
    square = template(
        "square",
        "echo $(({{inputs.parameters.n}} * {{inputs.parameters.n}})) > /tmp/out",
        number,
        {"parameters": [{"name": "out", "valueFrom": {"path": "/tmp/out"}}]},
    )
    tried = template(
        "tried",
        "[ {{retries}} = 2 ] && echo done > /tmp/file",
        {},
        {"artifacts": [{"name": "file", "path": "/tmp/file"}]},
        retryStrategy={"limit": "3"},
    )
    total = template(
        "total",
        "cat /in/file > /tmp/out; echo '{{inputs.parameters.all}}' >> /tmp/out",
        {"parameters": [{"name": "all"}], "artifacts": [{"name": "file", "path": "/in/file"}]},
        {"parameters": [{"name": "out", "valueFrom": {"path": "/tmp/out"}}]},
    )
    each = {
        "name": "each",
        "template": "square",
        "withSequence": {"count": "6"},
        "arguments": {"parameters": [{"name": "n", "value": "{{item}}"}]},
    }
    last = {
        "name": "last",
        "template": "total",
        "depends": "each && tried",
        "arguments": {
            "parameters": [{"name": "all", "value": "{{tasks.each.outputs.parameters.out}}"}],
            "artifacts": [{"name": "file", "from": "{{tasks.tried.outputs.artifacts.file}}"}],
        },
    }
    main = {
        "name": "main",
        "parallelism": 2,
        "dag": {"tasks": [each, {"name": "tried", "template": "tried"}, last]},
        "outputs": {
            "parameters": [
                {"name": "all", "valueFrom": {"parameter": "{{tasks.last.outputs.parameters.out}}"}}
            ]
        },
    }
    volume = {"name": "log", "persistentVolumeClaim": {"claimName": "log"}}
    spec = {"entrypoint": "main", "volumes": [volume], "templates": [main, square, tried, total]}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "wf"},
        "spec": spec,
    }


TEXT = st.text(st.characters(exclude_categories=()))
PHASES = st.sampled_from(("Succeeded", "Failed", "Error"))
VALUES = st.dictionaries(TEXT, TEXT, min_size=1)
OUTCOMES = st.builds(
    events.Outcome,
    PHASES,
    TEXT,
    st.none() | VALUES,
    st.none() | st.dictionaries(TEXT, st.tuples(PHASES, TEXT), min_size=1),
)
NOW = st.floats(0, 1e11)
EVENTS = st.one_of(
    st.builds(events.Started, NOW),
    st.builds(events.PodRunning, NOW, TEXT, TEXT),
    st.builds(events.PodEnded, NOW, TEXT, OUTCOMES),
    st.builds(events.Woken, NOW),
    st.builds(events.Resumed, NOW, TEXT, st.dictionaries(TEXT, TEXT)),
    st.builds(events.TakenUp, NOW),
    st.builds(events.ShutDown, NOW, st.sampled_from(("Stop", "Terminate"))),
)


@settings(max_examples=30)
@given(past=st.lists(EVENTS), rest=TEXT)
@example(past=[events.PodRunning(0.0, "\r\n\u2028\x85", "\udc80")], rest="{")
def test_what_has_happened_is_read_as_it_was(past: list[events.Event], rest: str) -> None:
    """Each text, also one that is no Unicode; what follows the last newline does not count."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        inputs = Inputs({"what": rest}, [], {}, {})
        log = journal.begin(path, inputs, {})
        log.write([journal.of_event(one) for one in past])
        log.close()
        whole = path.read_bytes()
        path.write_bytes(whole + rest.replace("\n", "").encode("utf-8", "surrogatepass"))
        assert journal.read(path) == (inputs, {}, past, len(whole))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "a line is not JSON"),
        ("[1]", "is damaged"),
        ('{"version":0}', "of another version of flowdsl"),
        ('{"version":1}', "is damaged"),
        (
            '{"version":1,"manifest":{},"references":[],"config":{},"settings":{},"cache":{"a":{"b":1}}}',
            "is damaged",
        ),
    ],
)
def test_a_journal_that_nobody_wrote_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(f"{text}\n")
    with pytest.raises(RunError, match=message):
        journal.read(path)


@pytest.mark.parametrize("line", ["7", "{}", '{"event":"none"}', '{"event":"ended","now":1}'])
def test_an_event_that_nobody_wrote_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "journal.jsonl"
    journal.begin(path, Inputs({}, [], {}, {}), {}).close()
    with path.open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(RunError, match="is damaged"):
        journal.read(path)


ALL = 'done\n["0","1","4","9","16","25"]'


def test_a_run_that_is_killed_again_and_again_ends_as_one_that_was_not(tmp_path: Path) -> None:
    folder, file = tmp_path / "run", tmp_path / "manifest.json"
    file.write_text(json.dumps(manifest()))
    killed = 0
    for moment in (0.15, 0.2, 0.22, 0.25, 0.3, 0.35, 0.4, 0.5, 30.0):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder), str(file)], cwd=Path(__file__).parents[2]
        )
        try:
            assert process.wait(moment) == 0
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
    assert killed > 0
    status = json.loads((folder / "workflow.json").read_text())["status"]
    assert status["phase"] == "Succeeded"
    assert status["nodes"]["wf"]["outputs"]["parameters"] == [{"name": "all", "value": ALL}]
    began = (tmp_path / "claim/began").read_text().splitlines()
    ended = [
        one.node for one in journal.read(folder / "journal.jsonl").past if isinstance(one, events.PodEnded)
    ]
    assert len(ended) == len(set(ended))
    assert len(began) - len(ended) <= killed * 3, "what had ended was run again"


def test_a_step_that_ended_is_not_run_again(tmp_path: Path) -> None:
    """The journal is cut after each line in turn: steps that it records as done are not repeated."""
    whole = tmp_path / "whole"
    whole.mkdir()
    runner(whole / "run").begin(Inputs(manifest(), [], {}, {}))
    lines = (whole / "run/journal.jsonl").read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines), 7):
        place = tmp_path / f"cut-{count}"
        (place / "run").mkdir(parents=True)
        # The files of the steps that ended exist, and half a line more.
        subprocess.run(["cp", "-r", whole / "run/artifacts", place / "run/artifacts"], check=True)
        (place / "run/journal.jsonl").write_bytes(b"".join(lines[:count]) + lines[count][:7])
        before = [
            one.node
            for one in journal.read(place / "run/journal.jsonl").past
            if isinstance(one, events.PodEnded)
        ]
        machine = runner(place / "run").resume()
        assert machine.phase == "Succeeded"
        outputs = machine.nodes["wf"].outputs
        assert outputs is not None
        assert outputs["parameters"] == [{"name": "all", "value": ALL}]
        began = place / "claim/began"
        names = began.read_text().splitlines() if began.exists() else []
        done = {node.name for node in machine.nodes.values() if node.id in before}
        assert not done & set(names)


def test_two_processes_do_not_run_in_one_folder(tmp_path: Path) -> None:
    folder, file = tmp_path / "run", tmp_path / "manifest.json"
    waits = manifest()
    waits["spec"]["templates"][1]["container"]["command"][2] = "sleep 30"
    file.write_text(json.dumps(waits))
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), str(file)], cwd=Path(__file__).parents[2]
    )
    try:
        deadline = time.monotonic() + 20
        while not (folder / "journal.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        with pytest.raises(RunError, match="going on in another process"):
            runner(folder).resume()
    finally:
        process.kill()
        process.wait()


def test_what_is_waited_for_after_a_break_was_begun_before(tmp_path: Path) -> None:
    name = {"name": "train"}
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    body: Json = {
        "name": "node",
        "image": "busybox:1.36",
        "command": ["sh", "-c", "echo began >> /log/began; sleep 1"],
    }
    body["volumeMounts"] = [{"name": "log", "mountPath": "/log"}]
    pod = {
        "restartPolicy": "Never",
        "containers": [body],
        "volumes": [{"name": "log", "persistentVolumeClaim": {"claimName": "log"}}],
    }
    job = {"name": "node", "template": {"metadata": {"labels": labels}, "spec": {"template": {"spec": pod}}}}
    trainer, done = "trainer.kubeflow.org/v1alpha1", "status.terminalState == Completed"
    objects: dict[str, tuple[str, str, str, Json, str]] = {
        "runtime": (
            "apply",
            trainer,
            "TrainingRuntime",
            {"template": {"spec": {"replicatedJobs": [job]}}},
            "",
        ),
        "job": ("apply", trainer, "TrainJob", {"runtimeRef": {"kind": "TrainingRuntime", **name}}, ""),
        "workers": ("get", "jobset.x-k8s.io/v1alpha2", "JobSet", {}, done),
    }
    templates: list[Json] = [{"name": "main", "steps": [[{"name": one, "template": one}] for one in objects]}]
    for one, (action, version, kind, spec, success) in objects.items():
        text = json.dumps({"apiVersion": version, "kind": kind, "metadata": name, "spec": spec})
        resource = {"action": action, "manifest": text, **({"successCondition": success} if success else {})}
        templates.append({"name": one, "resource": resource})
    wanted = {"metadata": {"name": "wf"}, "spec": {"entrypoint": "main", "templates": templates}}
    folder, file = tmp_path / "run", tmp_path / "manifest.json"
    file.write_text(json.dumps(wanted))
    began = tmp_path / "claim/began"
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder), str(file)]) as running:
        while not began.exists():
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
    machine = runner(folder).resume()
    assert machine.phase == "Succeeded", machine.message
    assert began.read_text().split() == ["began", "began"]
