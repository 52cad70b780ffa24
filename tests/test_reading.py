"""What `get` and `list` show of a run; the pictures beside the runs in tests/reading are whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from flowdsl.cli.display.lengths import age
from flowdsl.cli.display.paint import Paint
from flowdsl.cli.display.picture import Picture
from flowdsl.cli.display.rounds import rounds_text
from flowdsl.cli.display.tables import Cell, Column, Table
from flowdsl.cli.display.texts import line, wide, wrap
from flowdsl.cli.process import Refused
from flowdsl.cli.root import seconds_of
from flowdsl.cli.runs.listing import Wanted, listing
from flowdsl.cli.runs.reading import machine_readable
from flowdsl.runtime.cluster.kinds import EVENT, NODE, POD
from flowdsl.runtime.cluster.trouble import Refusal
from flowdsl.runtime.local.rounds import objective_of, tables
from flowdsl.runtime.status.gather import gathered
from flowdsl.runtime.status.run import Run
from flowdsl.runtime.times import rfc3339
from tests.commands import Result, in_process
from tests.goldens import same
from tests.local.harness import until
from tests.reading.runs import BEGAN, NOW, RUNS, Fake, There, gate, retry, stopped, sweep

Json = dict[str, Any]

PICTURES = Path(__file__).parent / "reading"
PLAIN = Paint(None)
COLOURED = Paint(None)
COLOURED.on = True


def picture(
    there: There, room: int | None, *, events: bool = False, paint: Paint = PLAIN, **more: Any
) -> str:
    run, found, _ = gathered(Fake(there), there.workflow, events=events)
    made = Picture(run, paint, room, NOW, **more)
    return made.text() + (made.events(found) if events else "")


def test_each_picture_is_of_a_run() -> None:
    names = {path.stem for path in PICTURES.glob("*.txt")}
    shown = (*RUNS, "list", "list-wide")
    assert names == {f"{name}-{room}" for name in shown for room in (80, 140)} | {
        "wide",
        "events",
        "ascii",
        "rounds",
    }


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("room", [80, 140])
def test_a_run_in_its_width(name: str, room: int, request: pytest.FixtureRequest) -> None:
    text = picture(RUNS[name](), room)
    assert max(map(wide, text.splitlines())) <= room
    same(text, PICTURES / f"{name}-{room}.txt", request)


def test_a_run_with_templates_and_pods(request: pytest.FixtureRequest) -> None:
    same(picture(sweep(), None, everything=True), PICTURES / "wide.txt", request)


def test_a_run_with_its_events(request: pytest.FixtureRequest) -> None:
    same(picture(gate(), 80, events=True), PICTURES / "events.txt", request)


def test_a_run_in_ascii(request: pytest.FixtureRequest) -> None:
    text = picture(sweep(), 80, ascii_only=True)
    assert text.isascii()
    same(text, PICTURES / "ascii.txt", request)


@pytest.mark.parametrize("room", [80, 140])
@pytest.mark.parametrize("everything", [False, True])
def test_the_list_in_its_width(room: int, everything: bool, request: pytest.FixtureRequest) -> None:
    runs = [Run(make().workflow) for make in RUNS.values()]
    text = listing(runs, NOW, everywhere=everything, everything=everything, room=room)
    assert max(map(wide, text.splitlines())) <= room
    same(text, PICTURES / f"list{'-wide' if everything else ''}-{room}.txt", request)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("room", [1, 10, 30, 60, 200])
def test_every_width_holds(name: str, room: int) -> None:
    there = RUNS[name]()
    text = picture(there, room)
    least = 24  # the labels above the table, and eight columns beside them
    assert max(map(wide, text.splitlines())) <= max(room, least)
    assert not any(line.isspace() for line in text.splitlines())
    assert max(map(wide, listing([Run(there.workflow)], NOW, room=room).splitlines())) <= room


def test_colours_change_nothing_but_colours() -> None:
    coloured = picture(sweep(), 100, paint=COLOURED)
    assert "\x1b[31m" in coloured
    for code in ("1", "2", "31", "32", "33", "36", "0"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == picture(sweep(), 100)


@pytest.mark.parametrize("room", [40, 80, None])
def test_hostile_texts_are_shown_as_escapes(room: int | None) -> None:
    evil = "\x1b]0;title\x07\x1b[2J\r\x00\u202egnp.exe\u2028x\ud800\x9b31m"
    there = sweep()
    text = json.dumps(there.workflow)
    for word in ("OOMKilled", "trials", "gpu-1", "s3://", "epochs", "prepare", "Failed", "train"):
        text = text.replace(word, word + json.dumps(evil)[1:-1])
    workflow = json.loads(text)
    workflow["metadata"]["name"] += evil
    workflow["metadata"]["namespace"] = evil
    run = Run(workflow, there.pods)
    shown = Picture(run, PLAIN, room, NOW, everything=True).text()
    shown += Picture(run, PLAIN, room, NOW).events([{"type": evil, "reason": evil, "message": evil}])
    shown += listing([run], NOW, everywhere=True, everything=True, room=room)
    assert all(one.isprintable() for one in shown.replace("\n", ""))
    shown.encode()


def test_the_rounds_of_a_run(request: pytest.FixtureRequest) -> None:
    workflow = tried()
    wanted = objective_of("accuracy:max")
    shown = tables(Run(workflow).entries, "tune-7mq2x", {}, wanted)
    same(
        rounds_text(shown, PLAIN, lambda one: one.message, everything=False), PICTURES / "rounds.txt", request
    )


def tried() -> Json:
    """The sweep with values of its trials, one of them with control sequences."""
    workflow: Json = sweep().workflow
    evil = {"name": "note\x1b[1m", "value": "all\x1b[2J\nis well"}
    given = iter(("0.5", "0.75"))
    for node in workflow["status"]["nodes"].values():
        if node["type"] == "Pod" and node["phase"] == "Succeeded" and "trials(" in node["name"]:
            node["outputs"] = {"parameters": [{"name": "accuracy", "value": next(given)}, evil]}
    return workflow


def test_who_may_not_read_pods_sees_the_rest() -> None:
    there = sweep()
    run, _, notes = gathered(Fake(there, forbidden=(POD, NODE, EVENT)), there.workflow)
    assert " ".join(notes) == (
        "cannot list pods in namespace `team-a`: pods is forbidden; "
        "to see what you may do: kubectl auth can-i list pods -n team-a"
    )
    text = Picture(run, PLAIN, 140, NOW).text()
    assert "(4) id=4 lr=1e-2  · Pending" in text
    assert run.requested() == 3


def test_events_that_were_asked_for_and_may_not_be_read_are_refused() -> None:
    there = gate()
    with pytest.raises(Refusal, match="cannot list events"):
        gathered(Fake(there, forbidden=(EVENT,)), there.workflow, events=True)
    run, _, notes = gathered(Fake(there, forbidden=(EVENT,)), there.workflow)
    assert notes == []
    assert "ContainerCreating" in Picture(run, PLAIN, 140, NOW).text()


def test_events_are_asked_for_only_where_a_pod_does_not_say_why_it_waits() -> None:
    for make, wanted in ((sweep, 0), (retry, 0), (gate, 1)):
        there = make()
        cluster = Fake(there)
        gathered(cluster, there.workflow)
        assert sum("involvedObject" in fields for _, fields in cluster.asked) == wanted


def test_pods_of_an_earlier_run_of_that_name_are_not_its_own() -> None:
    there = sweep()
    for pod in there.pods:
        pod["metadata"]["ownerReferences"][0]["uid"] = "another"
    run = gathered(Fake(there), there.workflow).run
    assert all(run.pod(node) is None for node in run.pods_of())


def test_many_rounds_are_cut_but_never_those_that_did_not_succeed() -> None:
    nodes: Json = {"r": {"id": "r", "name": "r", "type": "DAG", "phase": "Running"}}
    for at in range(400):
        phase = "Failed" if at % 100 == 99 else "Succeeded"
        nodes[f"r-{at}"] = {
            "id": f"r-{at}", "name": f"r.t({at}:{at})", "displayName": f"t({at}:{at})", "type": "Pod",
            "phase": phase, "boundaryID": "r", "startedAt": rfc3339(NOW - 9),
        }  # fmt: skip
    run = Run({"metadata": {"name": "r"}, "status": {"phase": "Running", "nodes": nodes}})
    text = Picture(run, PLAIN, 80, NOW).text()
    for at in (99, 199, 299, 399):
        assert f"({at})" in text
    assert "... 350 more: -o wide" in text
    assert "400 rounds, 4 failed" in text
    assert Picture(run, PLAIN, None, NOW, everything=True).text().count(" ✓ ") == 396


def test_the_page_shows_these_pictures() -> None:
    page = (PICTURES.parents[1] / "docs/guide/reading.md").read_text("utf-8")
    events = (PICTURES / "events.txt").read_text("utf-8")
    for text in (
        "tune-7mq2x\n" + (PICTURES / "sweep-80.txt").read_text("utf-8"),
        events[events.index("Events:") :],
    ):
        assert text + "```" in page
    assert "$ flowdsl list\n" + (PICTURES / "list-140.txt").read_text("utf-8") in page


# --- for programs -----------------------------------------------------------------------------------------


def test_json_and_yaml_are_the_workflow() -> None:
    workflow = sweep().workflow
    as_json = machine_readable(workflow, "json")
    assert as_json.isascii()
    wanted = json.loads(json.dumps(workflow))
    del wanted["metadata"]["managedFields"]
    assert json.loads(as_json) == wanted
    as_yaml = machine_readable(workflow, "yaml")
    assert yaml.safe_load(as_yaml) == wanted
    assert "\x1b" not in as_yaml
    assert machine_readable(workflow, "name") == "tune-7mq2x\n"


def test_what_no_yaml_holds_is_written_as_json() -> None:
    workflow = {"metadata": {"name": "a"}, "status": {"message": "\ud800"}}
    assert json.loads(machine_readable(workflow, "yaml")) == workflow


# --- on this machine --------------------------------------------------------------------------------------


@pytest.fixture
def flowdsl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    """A command in an empty folder, on a machine without a cluster."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)
    return in_process(capsys)


HELLO = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: hello}
spec:
  entrypoint: main
  templates:
    - {name: main, container: {image: a, command: [sh, -c, echo]}}
"""


def keep(name: str, created: float, phase: str, **labels: str) -> None:
    """Store a run in the current folder."""
    there = stopped().workflow
    metadata = {"name": name, "labels": labels, "creationTimestamp": f"2026-01-{int(created):02}T00:00:00Z"}
    folder = Path(".flowdsl/runs") / name
    folder.mkdir(parents=True)
    status = {**there["status"], "phase": phase}
    (folder / "workflow.json").write_text(
        json.dumps({**there, "metadata": metadata, "status": status, "spec": {}})
    )


def test_a_run_of_this_machine(flowdsl: Callable[..., Result]) -> None:
    Path("hello.yaml").write_text(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: hello}\n"
        "spec:\n  entrypoint: main\n  arguments: {parameters: [{name: who, value: world}]}\n"
        "  templates:\n  - name: main\n    dag:\n      tasks:\n"
        "      - {name: greet, template: greet, withItems: [1, 2],\n"
        "         arguments: {parameters: [{name: 'n', value: '{{item}}'}]}}\n"
        "  - name: greet\n    inputs: {parameters: [{name: 'n'}]}\n"
        "    container: {image: a, command: [sh, -c, 'exit $((N - 1))'],\n"
        "                env: [{name: 'N', value: '{{inputs.parameters.n}}'}]}\n"
    )
    assert flowdsl("run", "hello.yaml", "--name", "hello-1", "-q").code == 1
    code, out, err = flowdsl("get", "@latest")
    assert (code, err) == (0, "")
    lines = [one.split() for one in out.splitlines()]
    assert ["Folder:", ".flowdsl/runs/hello-1"] in lines
    assert ["Status:", "Failed"] in lines
    assert ["Steps:", "1", "succeeded,", "1", "failed"] in lines
    assert ["who", "world"] in lines
    assert ["STEP", "STATUS", "DURATION", "MESSAGE"] in lines
    assert [one[:4] for one in lines if one[:1] == ["(0)"]] == [["(0)", "n=1", "✓", "Succeeded"]]
    assert [one[5:] for one in lines if one[:1] == ["(1)"]] == [["main:", "Error", "(exit", "code", "1)"]]
    assert flowdsl("get", "hello-1", "-o", "name").out == "hello-1\n"
    found = json.loads(flowdsl("get", "hello-1", "-o", "json").out)
    assert found["status"]["phase"] == "Failed"
    for asked in (("get", "hello-1"), ("get", "hello-1", "--rounds"), ("list",)):
        assert flowdsl(*asked, "--json").out[0] in "[{"
    assert flowdsl("get", "hello-1", "--json") == flowdsl("get", "hello-1", "-o", "json")
    assert flowdsl("list", "--json", "-o", "wide").code == 2
    assert flowdsl("list", "--status", "failed,Error", "-o", "name").out == "hello-1\n"
    assert flowdsl("list", "--status", "pending", "--status", "Running", "-o", "name").out == ""
    for verb in ("list", "delete"):
        said = "flowdsl: --status gone: must be one of Pending, Running, Succeeded, Failed, Error\n"
        assert flowdsl(verb, "--status", "gone") == (2, "", said)
    for verb in ("stop", "suspend", "resume"):
        said = "flowdsl: `hello-1` is a run on this machine that has ended\n"
        assert flowdsl(verb, "hello-1") == (2, "", said)
    assert "run FILE --from STEP --of hello-1" in flowdsl("retry", "hello-1").err
    assert (
        flowdsl("logs", "hello-1", "-c", "side").err == "flowdsl: hello-1 has no log of a container `side`\n"
    )
    assert flowdsl("list").out.splitlines()[1].split()[:3] == ["hello-1", "✗", "Failed"]


def test_a_program_that_ended_with_an_error_is_quoted_unless_it_was_killed(
    flowdsl: Callable[..., Result],
) -> None:
    Path("ends.yaml").write_text(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: ends}\n"
        "spec:\n  entrypoint: main\n  templates:\n  - name: main\n    dag:\n      tasks:\n"
        '      - {name: try, template: try, withItems: ["exit  3\\n# a\\tb", kill -9 $$$$],\n'
        "         arguments: {parameters: [{name: how, value: '{{item}}'}]}}\n"
        "  - name: try\n    inputs: {parameters: [{name: how}]}\n"
        "    container: {image: a, command: [sh, -c, 'echo epoch 1; echo no data; {{inputs.parameters.how}}']}\n"
    )
    done = flowdsl("run", "ends.yaml", "--name", "ends")
    assert done.code == 1
    rounds, shown = flowdsl("get", "ends", "--rounds").out, flowdsl("get", "ends").out
    for out in (done.out, rounds):
        assert "Failed: no data\n" in out
        assert "Failed: main: Error (exit code 137)\n" in out
    table = "loop,#,how,phase,message\n"
    table += 'try,0,"exit  3\n# a\tb",Failed,no data\n'
    table += "try,1,kill -9 $$$$,Failed,main: Error (exit code 137)\n"
    assert flowdsl("get", "ends", "--rounds", "-o", "csv") == (0, table, "")
    said = "flowdsl: -o csv is the rounds of loops: add --rounds\n"
    assert flowdsl("get", "ends", "-o", "csv") == (2, "", said)
    assert "main: Error (exit code 3): no data\n" in shown
    assert "main: Error (exit code 137)\n" in shown


def test_a_metric_that_is_no_number_orders_nothing(flowdsl: Callable[..., Result]) -> None:
    Path("says.yaml").write_text(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: says}\n"
        "spec:\n  entrypoint: main\n  templates:\n  - name: main\n    dag:\n      tasks:\n"
        "      - {name: say, template: say, withItems: [b, a],\n"
        "         arguments: {parameters: [{name: what, value: '{{item}}'}]}}\n"
        "  - name: say\n    inputs: {parameters: [{name: what}]}\n"
        "    outputs: {parameters: [{name: said, valueFrom: {path: /tmp/said}}]}\n"
        "    container: {image: a, command: [sh, -c, 'echo {{inputs.parameters.what}}1 >/tmp/said']}\n"
    )
    assert flowdsl("run", "says.yaml", "--name", "says").code == 0
    shown = flowdsl("get", "says", "--rounds", "--metric", "said:max")
    assert shown.code == 0
    assert "best" not in shown.out
    assert shown.err == "note: --metric said:max: no round gives a finite number, so none is the best\n"


def test_what_did_not_run_in_a_run_of_this_machine_is_said(flowdsl: Callable[..., Result]) -> None:
    task = "      - {name: %s, template: step, depends: '%s'}\n"
    Path("two.yaml").write_text(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: two}\n"
        "spec:\n  entrypoint: main\n  templates:\n  - name: main\n    dag:\n      tasks:\n"
        f"{task % ('first', '')}{task % ('then', 'first')}"
        "  - {name: step, container: {image: a, command: [echo, done]}}\n"
    )
    assert flowdsl("run", "two.yaml", "--name", "whole", "-q").code == 0
    assert "Faked" not in flowdsl("get", "whole").out
    for options, said in {
        ("--fake", "first="): "Faked:     first\n",
        (
            "--from",
            "then",
            "--of",
            "whole",
        ): "Reused:    the results of whole, except for then and what follows\n",
        ("--only", "then", "--of", "whole"): "Only:      then, with its inputs in whole\n",
    }.items():
        name = options[0].removeprefix("--")
        assert flowdsl("run", "two.yaml", *options, "--name", name, "-q").code == 0
        assert said in flowdsl("get", name).out
    assert flowdsl("logs", "from").out == flowdsl("logs", "whole").out == "first | done\nthen | done\n"


def test_without_a_run_and_without_a_cluster_both_are_said(flowdsl: Callable[..., Result]) -> None:
    code, out, err = flowdsl("list")
    assert (code, out) == (2, "")
    assert err.startswith("flowdsl: there is no run in .flowdsl/runs, and there is no cluster to talk to: ")
    for verb in ("get", "logs", "fetch", "wait"):
        said = flowdsl(verb, "@latest").err
        assert said.startswith("flowdsl: there is no run `@latest` in .flowdsl/runs, and there is no cluster")


def test_the_latest_run_is_the_one_that_was_begun_last(flowdsl: Callable[..., Result]) -> None:
    Path("hello.yaml").write_text(HELLO)
    for name in ("old", "new"):
        assert flowdsl("run", "hello.yaml", "--name", name, "-q").code == 0
    os.utime(".flowdsl/runs/old/workflow.json")
    assert flowdsl("get", "@latest", "-o", "name").out == "new\n"
    said = "flowdsl: `@last` is not the name of a run: the last one is @latest\n"
    assert flowdsl("get", "@last") == (2, "", said)


def test_a_run_is_seen_from_its_first_moment(flowdsl: Callable[..., Result]) -> None:
    Path("hello.yaml").write_text(HELLO.replace("echo", "sleep 60; echo"))
    with subprocess.Popen(
        [sys.executable, "-m", "flowdsl.cli", "run", "hello.yaml", "--name", "one", "-q"]
    ) as going:
        until(Path(".flowdsl/runs/one/workflow.json").exists, 30)
        going.kill()
    # A process that was being started when it was killed holds its lock for a moment longer.
    until(lambda: "nothing runs it now: flowdsl run --resume one\n" in flowdsl("get", "one").out, 30)
    code, out, _ = flowdsl("get", "one")
    assert code == 0
    assert "1970" not in out


def test_a_run_that_nothing_runs_any_more_says_how_it_goes_on(flowdsl: Callable[..., Result]) -> None:
    keep("lost", 1, "Running")
    assert "nothing runs it now: flowdsl run --resume lost\n" in flowdsl("get", "lost").out
    path = Path(".flowdsl/runs/lost/workflow.json")
    found = json.loads(path.read_text())
    del found["status"]["message"]
    path.write_text(json.dumps(found))
    assert flowdsl("list").out.splitlines()[1].endswith("nothing runs it now")


def test_settings_that_cannot_be_used_are_not_those_of_nobody(flowdsl: Callable[..., Result]) -> None:
    keep("hello-1", 1, "Failed")
    settings = Path(os.environ["KUBECONFIG"])
    settings.write_text("{apiVersion: v1, kind: Config, clusters: [], users: [], contexts: []}")
    assert flowdsl("list", "-o", "name") == (0, "hello-1\n", "")
    settings.write_text(
        "{apiVersion: v1, kind: Config, clusters: [], users: [], contexts: [{name: a, context: {}}]}"
    )
    code, out, err = flowdsl("list", "-o", "name")
    assert (code, out) == (2, "")
    assert "names no current context: name one with --context; it has a" in err


def test_where_the_cluster_is_out_of_reach_the_runs_here_are_named(flowdsl: Callable[..., Result]) -> None:
    cluster = '{name: a, cluster: {server: "http://127.0.0.1:9"}}'
    Path(os.environ["KUBECONFIG"]).write_text(
        f"{{apiVersion: v1, kind: Config, current-context: a, clusters: [{cluster}], users: [],\n"
        " contexts: [{name: a, context: {cluster: a}}]}"
    )
    hint = "note: --local shows the runs of this folder\n"
    code, _, err = flowdsl("list", "--request-timeout", "0.1")
    assert (code, hint in err) == (3, False)
    keep("hello-1", 1, "Failed")
    code, _, err = flowdsl("list", "--request-timeout", "0.1")
    assert (code, hint in err) == (3, True)


def test_events_are_those_of_a_cluster(flowdsl: Callable[..., Result]) -> None:
    keep("hello-1", 1, "Failed")
    assert "has no events: leave out --events" in flowdsl("get", "hello-1", "--events").err
    assert flowdsl("get", "hello-1", "--events", "-o", "json").code == 2


@pytest.mark.parametrize("columns", ["50", "80", "140"])
def test_columns_are_honoured(
    columns: str, flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep("hello-1", 1, "Failed")
    whole = flowdsl("get", "hello-1").out
    assert max(map(len, whole.splitlines())) < 100
    monkeypatch.setenv("COLUMNS", columns)
    assert max(map(len, flowdsl("get", "hello-1").out.splitlines())) <= int(columns)
    assert (flowdsl("get", "hello-1").out == whole) is (columns != "50")
    monkeypatch.setenv("COLUMNS", "many")
    assert flowdsl("get", "hello-1").out == whole


def test_a_run_that_is_not_there_is_the_users_mistake(flowdsl: Callable[..., Result]) -> None:
    keep("hello-1", 1, "Failed")
    code, out, err = flowdsl("get", "hello-2")
    assert (code, out) == (2, "")
    assert "there is no run `hello-2` in .flowdsl/runs (is it `hello-1`?)" in err
    said = flowdsl("get", "other").err
    assert "there is no run `other` in .flowdsl/runs (the last ones are hello-1), and" in said


def test_runs_of_one_second_are_listed_as_they_began(flowdsl: Callable[..., Result]) -> None:
    for number, name in enumerate(("b", "c", "a")):
        keep(name, 1, "Failed")
        lock = Path(".flowdsl/runs", name, "lock")
        lock.touch()
        os.utime(lock, ns=(number, number))
    assert flowdsl("list", "--local", "-o", "name").out == "a\nc\nb\n"
    assert flowdsl("get").code == 2


def test_the_runs_of_this_folder_newest_first(flowdsl: Callable[..., Result]) -> None:
    keep("a", 3, "Failed", team="vision")
    keep("b", 5, "Running", team="text")
    keep("c", 4, "Succeeded")
    Path(".flowdsl/runs/broken").mkdir()
    Path(".flowdsl/runs/broken/workflow.json").write_text("{")

    def names(*options: str) -> str:
        return " ".join(flowdsl("list", "--local", "-o", "name", *options).out.split())

    assert names() == "b c a"
    assert "note: .flowdsl/runs/broken/workflow.json cannot be read" in flowdsl("list").err
    Path(".flowdsl/runs/broken/workflow.json").unlink()
    Path(".flowdsl/runs/broken/workflow.json").mkdir()
    assert "/workflow.json cannot be read: Is a directory\n" in flowdsl("list").err
    Path(".flowdsl/runs/closed").symlink_to("closed")
    assert "closed/workflow.json cannot be read: Too many levels" in flowdsl("list").err
    assert names("--running") == "b"
    assert names("--completed") == "c a"
    assert names("--status", "Failed", "--status", "Running") == "b a"
    assert names("--limit", "1") == "b"
    assert names("-l", "team in (vision, text)") == "b a"
    assert names("-l", "!team") == "c"
    assert names("--since", "1w") == ""
    assert names("--since", "9000w") == "b c a"
    rows = json.loads(flowdsl("list", "-o", "json").out)
    assert [(one["name"], one["phase"], one["gpus"]) for one in rows] == [
        ("b", "Running", None), ("c", "Succeeded", None), ("a", "Failed", None)
    ]  # fmt: skip
    assert rows[2]["labels"] == {"team": "vision"}
    nothing = flowdsl("list", "--local", "--since", "1s")
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err.endswith("there is no such run in .flowdsl/runs\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--since", "soon"),
            "--since soon: expected a duration such as `90s`, `5m` or `1h30m`, found `soon`",
        ),
        (("--since=-5m",), "--since -5m: must be 0 or longer, such as 90s, 20m or 6h"),
        (("--limit", "0"), "--limit 0: must be at least 1"),
        (
            ("--local", "-A"),
            "--local is about runs of this folder: leave out what names a cluster or namespace",
        ),
        (("-A", "-n", "x"), "--all-namespaces is about all of them: leave out --namespace"),
        (
            ("-l", "a b"),
            "--selector: `a b` is not a condition on labels; write them as in team=vision,tier!=test",
        ),
        (("--context", "x"), "the settings of the cluster cannot be read"),
    ],
)
def test_wrong_options(flowdsl: Callable[..., Result], arguments: tuple[str, ...], said: str) -> None:
    keep("a", 1, "Failed")
    code, out, err = flowdsl("list", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err or "there is no cluster to talk to" in err


@pytest.mark.parametrize(
    ("since", "seconds"),
    [("90s", 90), ("0", 0), ("2d", 172800), ("1w", 604800), ("1d12h", 129600), ("1w1d1h1s", 694801)],
)
def test_durations_may_have_days(since: str, seconds: float) -> None:
    assert seconds_of("--since", since) == seconds


@pytest.mark.parametrize("since", ["90", "d", "2 days", "1h1d", "-", "2d2d", "1mo"])
def test_other_durations_are_refused(since: str) -> None:
    with pytest.raises(Refused):
        seconds_of("--since", since)


@pytest.mark.parametrize(
    ("wanted", "labels"),
    [
        (Wanted(), ""),
        (Wanted("a=b", running=True), "a=b,workflows.argoproj.io/completed!=true"),
        (Wanted(completed=True), "workflows.argoproj.io/completed=true"),
        (Wanted(running=True, completed=True), ""),
        (Wanted(phases=("Failed", "Error")), "workflows.argoproj.io/phase in (Failed,Error)"),
        (Wanted(phases=("Pending", "Running")), "workflows.argoproj.io/phase notin (Succeeded,Failed,Error)"),
    ],
)
def test_the_server_selects(wanted: Wanted, labels: str) -> None:
    assert wanted.labels() == labels


# --- tables -----------------------------------------------------------------------------------------------


def test_ages() -> None:
    assert [age(one) for one in (-5, 0, 119, 120, 7199, 7200, 172799, 172800)] == [
        "0s", "0s", "119s", "2m", "119m", "2h", "47h", "2d"
    ]  # fmt: skip


def test_wide_characters_take_their_columns() -> None:
    table = Table([Column("A", least=4), Column("B", least=4)], [[Cell("漢" * 20), Cell("x" * 20)]], 30)
    assert all(wide(one) <= 30 for one in table.text(PLAIN).splitlines())
    assert all(wide(one) <= 11 for one in wrap("漢字 " * 9 + "y" * 40, 11, "   "))


def test_wrapping_loses_nothing() -> None:
    text = line("one  two\tthree " + "x" * 50 + " end")
    assert "".join(wrap(text, 20)).replace(" ", "") == text.replace(" ", "")
    assert wrap("", 20) == [""]


def test_time_begins_with_the_run() -> None:
    assert Run(sweep().workflow).created == BEGAN
