"""Runs submitted to a cluster and waited for, on a small API server in the process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl.cli.app import run as flowdsl
from flowdsl.cli.clusters.reach import Reach
from flowdsl.runtime.lock import take
from tests.cluster.faults import FAULTS, Fault, until_it_passes
from tests.cluster.objects import kubeconfig
from tests.cluster.runs import PIPELINE, TEMPLATES, WORKFLOWS, Cluster, later

if TYPE_CHECKING:
    from collections.abc import Callable

Object = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]


def test_the_run_is_what_was_compiled(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert flowdsl(["submit", "tiny.py", "-p", "lr=0.25", "--label", "team=a"]) == 0
    name = capsys.readouterr().out.strip()
    assert cluster.runs == [name]
    found = cluster.objects.known[f"{WORKFLOWS}/{name}"]
    assert found["spec"]["arguments"]["parameters"] == [{"name": "lr", "value": "0.25"}]
    assert found["metadata"]["labels"]["team"] == "a"
    assert flowdsl(["compile", "tiny.py"]) == 0
    from yaml import safe_load

    compiled = safe_load(capsys.readouterr().out)
    assert found["spec"]["templates"] == compiled["spec"]["templates"]


def test_the_settings_are_those_of_the_pipeline_s_project(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    for folder, namespace in ((project, "team"), (elsewhere, "wrong")):
        folder.mkdir()
        (folder / "flowdsl.toml").write_text(
            f'default-cluster = "{folder.name}"\n[clusters.{folder.name}]\nnamespace = "{namespace}"\n'
        )
    (project / "tiny.py").write_text(PIPELINE)
    monkeypatch.chdir(elsewhere)
    for more in ([], ["--cluster", "project"]):
        assert flowdsl(["submit", "../project/tiny.py", "--name", f"run{len(more)}", *more]) == 0
        assert "created in namespace `team` of " in capsys.readouterr().err
    assert [path for path in cluster.objects.known if "/namespaces/team/" in path]
    assert not [path for path in cluster.objects.known if "/namespaces/wrong/" in path]
    assert Reach().of("../project/tiny.py").flags() == " --namespace team"
    assert flowdsl(["submit", "../project/tiny.py", "--cluster", "elsewhere"]) == 2
    assert "elsewhere" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)  # there is no project here
    assert flowdsl(["diff", "project/tiny.py"]) == 0
    assert "compared with the run run" in capsys.readouterr().err


def test_the_latest_run_is_the_one_that_was_submitted_last(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "tiny.py", "--quiet", "--name"]
    latest = ["get", "@latest", "-o", "name"]
    assert flowdsl([*run, "here"]) == flowdsl(["submit", "tiny.py", "--name", "there"]) == 0
    capsys.readouterr()
    assert flowdsl(latest) == 0
    assert capsys.readouterr().out == "there\n"
    assert flowdsl([*run, "again"]) == 0
    capsys.readouterr()
    assert flowdsl(latest) == flowdsl([*latest, "--request-timeout", "20"]) == 0
    assert capsys.readouterr().out == "again\nagain\n"


@pytest.mark.parametrize(
    ("more", "found"), [([], "there\n"), (["--cluster", "one"], "there\n"), (["--cluster", "two"], "here\n")]
)
def test_the_latest_run_is_in_the_namespace_of_the_settings(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], found: str
) -> None:
    clusters = "".join(f'[clusters.{name}]\nnamespace = "{name}"\n' for name in ("one", "two"))
    (tmp_path / "flowdsl.toml").write_text(f'default-cluster = "one"\n{clusters}')
    assert flowdsl(["run", "tiny.py", "--quiet", "--name", "here"]) == 0
    assert flowdsl(["submit", "tiny.py", "--name", "there", *more]) == 0
    capsys.readouterr()
    assert flowdsl(["get", "@latest", "-o", "name"]) == 0
    assert capsys.readouterr().out == found


def test_a_sweep_is_submitted_as_it_is_written(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["sweep", "tiny.py:train", "lr=0.25,0.5", "--metric", "max"]
    assert flowdsl([*asked, "--submit", "--name", "tried"]) == 0
    assert capsys.readouterr().out == "tried\n"
    assert flowdsl(asked) == 0
    from yaml import safe_load

    compiled = safe_load(capsys.readouterr().out)
    assert cluster.objects.known[f"{WORKFLOWS}/tried"]["spec"]["templates"] == compiled["spec"]["templates"]


def test_each_submission_is_a_run_of_its_own_unless_it_has_the_same_id(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ([], [], ["--id", "job-7"], ["--id", "job-7"], ["--id", "job-7", "-p", "lr=1"]):
        assert flowdsl(["submit", "tiny.py", *more]) == 0
    names = capsys.readouterr().out.split()
    assert len(names) == 5
    assert names[2] == names[3]
    assert len(set(names)) == 4 == len(cluster.runs)
    for option in ("--id", "--name"):
        assert flowdsl(["submit", "tiny.py", option, ""]) == 2
    assert "--id: it is empty" in capsys.readouterr().err
    assert len(cluster.runs) == 4


def test_a_run_that_was_there_is_not_said_to_be_created(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    again = ["submit", "tiny.py", "--id", "job-7"]
    assert flowdsl(again) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("created in namespace")
    name = printed.out.strip()
    cluster.objects.known[f"{WORKFLOWS}/{name}"]["status"] = {"phase": "Failed"}
    assert flowdsl(again) == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == name
    assert printed.err.startswith("submitted before, with the same --id, and Failed, in namespace")


def test_a_sweep_is_submitted_once_with_an_id(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = ["sweep", "tiny.py", "lr=0.1,0.2", "--metric", "max"]
    assert flowdsl([*sweep, "--id", "job-7"]) == 2
    assert "--id is for a run: add --submit" in capsys.readouterr().err
    Path("tiny.py").write_text(PIPELINE.replace("-> None:\n    train", "-> float:\n    return train"))
    for _ in range(2):
        assert flowdsl([*sweep, "--submit", "--id", "job-7", "--argo-version", "3.6"]) == 0
    first, second = capsys.readouterr().out.split()
    assert first == second
    assert cluster.runs == [first]
    assert flowdsl([*sweep, "--argo-version", "3.6"]) == 0
    from yaml import safe_load

    compiled = safe_load(capsys.readouterr().out)
    assert cluster.objects.known[f"{WORKFLOWS}/{first}"]["spec"]["templates"] == compiled["spec"]["templates"]
    waiting = ["--submit", "--id", "job-7", "--argo-version", "3.6", "--wait", "--timeout", "0.1s"]
    assert flowdsl([*sweep, *waiting]) == 5


def test_a_name_that_is_taken_by_another_run_is_refused(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert flowdsl(["submit", "tiny.py", "--name", "mine"]) == 0
    assert flowdsl(["submit", "tiny.py", "--name", "mine"]) == 3
    assert "already exists" in capsys.readouterr().err
    assert cluster.runs == ["mine"]


def test_a_template_of_the_cluster(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert flowdsl(["compile", "tiny.py", "--as", "template"]) == 0
    from yaml import safe_load

    cluster.objects.put(TEMPLATES, safe_load(capsys.readouterr().out))
    assert flowdsl(["submit", "--from", "template/tiny", "-p", "lr=0.1"]) == 0
    name = capsys.readouterr().out.strip()
    spec = cluster.objects.known[f"{WORKFLOWS}/{name}"]["spec"]
    assert spec == {
        "workflowTemplateRef": {"name": "tiny"},
        "arguments": {"parameters": [{"name": "lr", "value": "0.1"}]},
    }
    assert flowdsl(["submit", "--from", "template/tiny", "-p", "lrr=0.1"]) == 2
    assert "did you mean `lr`?" in capsys.readouterr().err
    assert flowdsl(["submit", "--from", "template/none"]) == 3
    way = "kubectl get workflowtemplates.argoproj.io -n default shows what there is\n"
    assert capsys.readouterr().err.endswith(f"; {way}")
    assert flowdsl(["submit", "--from", "tiny"]) == 2


def test_values_with_which_a_run_fails(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    text = PIPELINE.replace("lr: float = 0.5", "rates: list[float] = [0.5, 0.25]").replace(
        "(lr)", "(rates[1])"
    )
    Path("tiny.py").write_text(text, encoding="utf-8")
    assert flowdsl(["compile", "tiny.py", "--as", "template"]) == 0
    from yaml import safe_load

    cluster.objects.put(TEMPLATES, safe_load(capsys.readouterr().out))
    for given in (["tiny.py"], ["--from", "template/tiny"]):
        assert flowdsl(["submit", *given, "-p", "rates=[0.5]"]) == 2
        found = capsys.readouterr().err
        assert "-p rates=[0.5]: `fromJSON(inputs.parameters['rates'])[1]` fails: index out of range" in found
        assert not cluster.runs
    for given in (["tiny.py"], ["--from", "template/tiny"]):
        assert flowdsl(["submit", *given, "-p", "rates=[1, 2]"]) == 0
    assert len(cluster.runs) == 2
    Path("tiny.py").write_text(text.replace("[0.5, 0.25]", "[0.5]"), encoding="utf-8")
    assert flowdsl(["submit", "tiny.py"]) == 2
    assert "without another value than -p rates=[0.5]: " in capsys.readouterr().err
    assert flowdsl(["submit", "tiny.py", "-p", "rates=[1, 2]"]) == 0
    assert flowdsl(["submit", "tiny.py", "--no-check"]) == 0
    assert len(cluster.runs) == 4


TEMPLATE: Object = {
    "metadata": {
        "name": "nightly",
        "labels": {
            "argocd.argoproj.io/instance": "apps",
            "workflows.argoproj.io/controller-instanceid": "two",
        },
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
    },
    "spec": {
        "entrypoint": "main",
        "arguments": {"parameters": [{"name": "day"}, {"name": "rate", "value": "1"}]},
        "templates": [{"name": "main", "container": {"image": "a", "args": ["{{workflow.parameters.day}}"]}}],
    },
}
CRONS = "/apis/argoproj.io/v1alpha1/namespaces/default/cronworkflows"
PREFIX = "workflows.argoproj.io/"


def cron(**metadata: str) -> Object:
    more = {"labels": {"team": "a"}, "annotations": {"note": "b"}, "finalizers": ["example.com/keep"]}
    spec = {
        **TEMPLATE["spec"],
        "arguments": {"parameters": [{"name": "day", "value": "monday"}]},
    }
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "CronWorkflow",
        "metadata": {**TEMPLATE["metadata"], **metadata},
        "spec": {"schedules": ["0 3 * * *"], "workflowMetadata": more, "workflowSpec": spec},
    }


@pytest.mark.parametrize("kind", ["template", "cluster-template"])
def test_a_run_takes_no_marks_from_its_template(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    everywhere = "/apis/argoproj.io/v1alpha1/clusterworkflowtemplates"
    cluster.objects.put(TEMPLATES if kind == "template" else everywhere, TEMPLATE)
    assert flowdsl(["submit", "--from", f"{kind}/nightly", "-p", "day=monday", "--name", "one"]) == 0
    metadata = cluster.objects.known[f"{WORKFLOWS}/one"]["metadata"]
    assert metadata["labels"] == {
        f"{PREFIX}{kind.replace('template', 'workflow-template')}": "nightly",
        f"{PREFIX}controller-instanceid": "two",
    }
    assert list(metadata["annotations"]) == ["flowdsl.dev/submit-id"]


def test_a_run_of_a_schedule_is_what_the_controller_would_make(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    made = cluster.objects.put(CRONS, cron())
    for _ in range(2):
        assert flowdsl(["submit", "--from", "cron/nightly", "--id", "7"]) == 0
    first, second = capsys.readouterr().out.split()
    assert first == second
    metadata = cluster.objects.known[f"{WORKFLOWS}/{first}"]["metadata"]
    assert metadata["labels"] == {
        f"{PREFIX}cron-workflow": "nightly",
        f"{PREFIX}controller-instanceid": "two",
        "team": "a",
    }
    assert set(metadata["annotations"]) == {f"{PREFIX}scheduled-time", "note", "flowdsl.dev/submit-id"}
    assert metadata["finalizers"] == ["example.com/keep"]
    (owner,) = metadata["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"], owner["controller"]) == (
        "CronWorkflow",
        "nightly",
        made["metadata"]["uid"],
        True,
    )


def test_a_file_says_the_namespace_and_the_finalizers(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    elsewhere = "/apis/argoproj.io/v1alpha1/namespaces/other/workflows"
    (tmp_path / "cron.json").write_text(json.dumps(cron(namespace="other")))
    assert flowdsl(["submit", "cron.json", "--name", "one"]) == 0
    assert flowdsl(["submit", "cron.json", "--name", "two", "-n", "default"]) == 2
    assert "the workflow is for the namespace `other`" in capsys.readouterr().err
    kept = {"namespace": "other", "finalizers": ["example.com/keep"]}
    plain = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": cron()["spec"]["workflowSpec"]}
    (tmp_path / "wf.json").write_text(json.dumps({**plain, "metadata": {"name": "three", **kept}}))
    assert flowdsl(["submit", "wf.json"]) == 0
    assert [one for one in cluster.objects.known if "/workflows/" in one] == [
        f"{elsewhere}/one",
        f"{elsewhere}/three",
    ]
    metadata = cluster.objects.known[f"{elsewhere}/three"]["metadata"]
    assert metadata["finalizers"] == ["example.com/keep"]


def test_a_run_that_could_never_begin_is_not_created(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cluster.objects.put(TEMPLATES, TEMPLATE)
    library = {
        key: value for key, value in TEMPLATE["spec"].items() if key not in ("entrypoint", "arguments")
    }
    cluster.objects.put(TEMPLATES, {"metadata": {"name": "lib"}, "spec": library})
    for name in ("nightly", "lib"):
        document = {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Workflow",
            "metadata": {"generateName": "x-"},
            "spec": {"workflowTemplateRef": {"name": name}},
        }
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    assert flowdsl(["submit", "--from", "template/lib"]) == 2
    assert "`lib` has no entrypoint" in capsys.readouterr().err
    assert flowdsl(["submit", "lib.json"]) == 3
    assert "`lib` has no entrypoint" in capsys.readouterr().err
    assert flowdsl(["submit", "nightly.json"]) == 3
    assert "the parameter `day` of the template `nightly` has no value" in capsys.readouterr().err
    assert flowdsl(["submit", "nightly.json", "-p", "day=monday", "-p", "raet=2"]) == 3
    assert "has no parameter `raet`\n  did you mean `rate`?" in capsys.readouterr().err
    assert cluster.runs == []
    assert flowdsl(["submit", "nightly.json", "-p", "day=monday", "-p", "rate=2"]) == 0
    assert len(cluster.runs) == 1


@pytest.mark.parametrize("dry_run", [[], ["--dry-run", "server"]])
def test_what_the_cluster_makes_of_a_run_is_said(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], dry_run: list[str]
) -> None:
    def admit(body: Object) -> Object:
        spec = body["spec"]
        (leaf,) = (one for one in spec["templates"] if one["name"] == "train")
        leaf["script"]["image"] = "mirror.example.com/a:1"
        leaf["timeout"] = None
        spec["tolerations"] = [{"key": "team", "operator": "Exists"}]
        del body["metadata"]["labels"]["team"]
        body["metadata"]["labels"]["added"] = "by somebody"
        spec["serviceAccountName"] = ""
        return body

    cluster.objects.admit = admit
    cluster.objects.warnings = ['would be refused by policy \\"restricted\\"', "once"]
    assert flowdsl(["submit", "tiny.py", "--name", "one", "-l", "team=a", *dry_run]) == 0
    end = "the server would create the run one" if dry_run else "created"
    said = capsys.readouterr().err.partition(f"{end} in namespace `default`")
    assert said[1:] == (f"{end} in namespace `default`", said[2])
    assert said[0] == (
        'note: the server warns: would be refused by policy "restricted"\n'
        "note: the server warns: once\n"
        "note: the cluster changed the run as it took it:\n"
        '  spec.templates[train].script.image is "mirror.example.com/a:1", not "python:3.12-slim"\n'
        '  spec.tolerations is [{"key": "team", "operator": "Exists"}]\n'
        "  metadata.labels[team] is gone\n"
    )


def test_what_says_the_same_is_no_change(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    run = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "one"},
        "spec": {
            "entrypoint": "main",
            "templates": [
                {
                    "name": "main",
                    "inputs": {},
                    "container": {
                        "image": "a:1",
                        "command": ["true"],
                        "resources": {"limits": {"memory": "1024Mi", "cpu": "2000m"}},
                        "ports": [{"containerPort": 80}],
                    },
                }
            ],
        },
    }
    Path("one.json").write_text(json.dumps(run))

    def admit(body: Object) -> Object:
        (main,) = body["spec"]["templates"]
        del main["inputs"]
        main["container"]["resources"] = {"limits": {"memory": "1Gi", "cpu": "2"}}
        main["container"]["name"] = ""
        main["container"]["ports"][0]["protocol"] = "TCP"
        body["spec"]["arguments"] = {}
        body["spec"]["suspend"] = True
        return body

    cluster.objects.admit = admit
    assert flowdsl(["submit", "one.json"]) == 0
    assert "note" not in capsys.readouterr().err


def test_dry_runs_create_nothing(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert flowdsl(["submit", "tiny.py", "--dry-run", "client"]) == 0
    assert capsys.readouterr().out.startswith("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\n")
    assert flowdsl(["submit", "tiny.py", "--dry-run", "server"]) == 0
    assert cluster.runs == []
    capsys.readouterr()
    for asked in (["--json"], ["-o", "json"], ["--json", "-o", "json"]):
        assert flowdsl(["submit", "tiny.py", "--dry-run", "client", *asked]) == 0
        assert json.loads(capsys.readouterr().out)["kind"] == "Workflow"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_lost_request_never_makes_a_second_run(
    cluster: Cluster, fault: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    def submit(number: int) -> None:
        name = f"run-{number}"
        assert flowdsl(["submit", "tiny.py", "--name", name, "--request-timeout", "1"]) == 0
        assert capsys.readouterr().out == f"{name}\n"
        assert cluster.runs == [name]
        cluster.objects.drop(f"{WORKFLOWS}/{name}")

    assert until_it_passes(cluster.proxy, fault, submit) >= 2


@pytest.mark.parametrize("fault", FAULTS)
def test_waiting_survives_a_lost_request(
    cluster: Cluster, fault: Fault, capsys: pytest.CaptureFixture[str]
) -> None:
    def wait(number: int) -> None:
        name = f"run-{number}"
        timer = later(0.3, cluster.end_when_there, name)
        command = [
            "submit",
            "tiny.py",
            "--name",
            name,
            "--wait",
            "--timeout",
            "60s",
            "--request-timeout",
            "1",
        ]
        assert flowdsl(command) == 0
        timer.join()
        assert capsys.readouterr().out == f"{name}\n{name}: Succeeded after 3m 20s\n"
        cluster.objects.drop(f"{WORKFLOWS}/{name}")

    assert until_it_passes(cluster.proxy, fault, wait) >= 3


def test_how_a_run_ends_is_the_exit_code(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert flowdsl(["submit", "tiny.py", "--name", "one"]) == 0
    cluster.end("one", "Failed", message="child 'train' failed")
    assert flowdsl(["wait", "one"]) == 1
    assert capsys.readouterr().out == "one\none: Failed after 3m 20s: child 'train' failed\n"
    # The controller says nothing at the end of a graph; the step that failed does.
    cluster.end("one", "Failed", nodes=nodes("one", "Failed", "OOMKilled (exit code 137)"))
    assert flowdsl(["wait", "one"]) == 1
    assert capsys.readouterr().out == "one: Failed after 3m 20s: train: OOMKilled (exit code 137)\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_who_is_ended_says_how_to_come_back(cluster: Cluster, number: signal.Signals) -> None:
    assert flowdsl(["submit", "tiny.py", "--name", "one"]) == 0
    usual = "signal.signal(int(sys.argv[1]), signal.SIG_DFL); os.execv(sys.argv[2], sys.argv[2:])"
    wait = [sys.executable, "-m", "flowdsl.cli", "wait", "one"]
    # Under nohup, for example, SIGHUP would not end it.
    command = [sys.executable, "-c", f"import os, signal, sys; {usual}", str(number.value), *wait]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as child:
        cluster.once_watched(lambda: child.send_signal(number))
        _, said = child.communicate(timeout=30)
    assert child.returncode == 128 + number, said
    assert said.endswith("or end it with\n  flowdsl stop one\n")


def test_a_run_whose_results_are_still_to_come_has_not_ended(cluster: Cluster) -> None:
    assert flowdsl(["submit", "tiny.py", "--name", "one"]) == 0
    found = cluster.objects.known[f"{WORKFLOWS}/one"]
    cluster.objects.put(WORKFLOWS, {**found, "status": {"phase": "Succeeded"}})
    assert flowdsl(["wait", "one", "--timeout", "1s"]) == 5
    cluster.end("one")
    assert flowdsl(["wait", "one", "--timeout", "1s"]) == 0


def test_a_wait_has_an_end(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert flowdsl(["submit", "tiny.py", "--name", "one"]) == 0
    before = time.monotonic()
    assert flowdsl(["wait", "one", "--timeout", "1s"]) == 5
    assert time.monotonic() - before < 10
    said = capsys.readouterr().err
    assert said.endswith("has not ended in time: it is Pending\ncome back to it with\n  flowdsl wait one\n")
    assert flowdsl(["wait", "one", "--timeout", "soon"]) == 2
    assert cluster.runs == ["one"]


@pytest.mark.parametrize(("after", "word"), [("--wait", "wait"), ("--watch", "watch"), ("--logs", "wait")])
def test_what_follows_a_submission_has_an_end(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], after: str, word: str
) -> None:
    assert flowdsl(["submit", "tiny.py", "--name", "one", after, "--timeout", "1s"]) == 5
    said = capsys.readouterr().err
    assert "the run `one` has not ended in time" in said
    assert said.endswith(f"come back to it with\n  flowdsl {word} one\n")
    assert cluster.runs == ["one"]


def test_a_run_that_goes_while_it_is_waited_for(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert flowdsl(["submit", "tiny.py", "--name", "one"]) == 0
    timer = cluster.once_watched(lambda: cluster.objects.drop(f"{WORKFLOWS}/one"))
    assert flowdsl(["wait", "one", "--timeout", "60s"]) == 6
    timer.join()
    assert "was deleted" in capsys.readouterr().err


def test_a_run_that_is_replaced_while_nobody_looks(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert flowdsl(["submit", "tiny.py", "--name", "one"]) == 0

    def replace() -> None:
        found = cluster.objects.known[f"{WORKFLOWS}/one"]
        cluster.objects.drop(f"{WORKFLOWS}/one")
        cluster.objects.put(WORKFLOWS, {**found, "metadata": {"name": "one"}})
        cluster.objects.compact()

    timer = cluster.once_watched(replace)
    assert flowdsl(["wait", "one", "--timeout", "60s"]) == 6
    timer.join()


def test_a_watch_goes_on_where_the_server_has_forgotten(cluster: Cluster) -> None:
    assert flowdsl(["submit", "tiny.py", "--name", "one"]) == 0

    def forget() -> None:
        cluster.objects.compact()
        cluster.end("one")
        cluster.objects.compact()

    timer = cluster.once_watched(forget)
    assert flowdsl(["wait", "one", "--timeout", "60s"]) == 0
    timer.join()


def test_a_server_that_is_away_is_out_of_reach(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    away = kubeconfig("http://127.0.0.1:9", tmp_path / "away")
    monkeypatch.setenv("KUBECONFIG", str(away))
    assert flowdsl(["submit", "tiny.py", "--request-timeout", "0.2"]) == 3
    assert "cannot be reached" in capsys.readouterr().err
    assert cluster.runs == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["submit"], "name either a file to submit"),
        (["submit", "tiny.py", "--from", "template/x"], "name either a file to submit"),
        (["submit", "tiny.py", "--wait", "--watch"], "choose one"),
        (["submit", "tiny.py", "--timeout", "5s"], "--timeout is for waiting"),
        (["submit", "tiny.py", "--json", "-o", "name"], "--json and -o name: choose one of them"),
        (["submit", "tiny.py", "--dry-run", "server", "--wait"], "--dry-run creates nothing"),
        (["submit", "tiny.py", "--name", "Bad_Name"], "`Bad_Name` cannot be the name of a run"),
        (["submit", "tiny.py", "--name", ""], "--name: `` cannot be the name of a run: it has small letters"),
        (["submit", "tiny.py", "--id", ""], "give it, or leave out --id"),
        (["submit", "tiny.py", "--label", "x"], "write --label KEY=VALUE"),
        (["submit", "tiny.py", "--label", "a/b/c=x"], "`a/b/c` cannot be the key of a label"),
        (["submit", "tiny.py", "--label", "team=a b"], "`a b` cannot be the value of a label"),
        (["submit", "tiny.py", "--context", "other"], "there is no context `other`"),
        (["submit", "tiny.py", "--request-timeout", "0"], "must be longer than 0"),
        (["submit", "tiny.py", "-p", "lr=much"], "`lr` is float"),
        (["wait", "none"], "there is no run `none`"),
    ],
)
def test_what_is_asked_for_wrongly(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], arguments: list[str], text: str
) -> None:
    assert flowdsl(arguments) == 2
    assert text in capsys.readouterr().err
    assert cluster.runs == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("x",),
        ("template/X_",),
        ("template/tiny", "-p", "y"),
        ("template/tiny", "--name", "B_"),
        ("cron/a", "-l", "x"),
    ],
)
def test_what_the_cluster_is_to_have_is_judged_without_it(
    cluster: Cluster,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KUBECONFIG", "nowhere")
    assert flowdsl(["submit", "--from", *arguments]) == 2
    assert "no cluster" not in capsys.readouterr().err


NEEDY = """
from pathlib import Path

from flowdsl import Secret, Volume, pipeline, step

DATA = Volume("datasets", mode="ReadWriteMany")


@step(image="python:3.12-slim", secrets={"TOKEN": Secret("hub", "token")}, priority="high")
def train(data: Path) -> float:
    return 1.0


@pipeline
def needy() -> None:
    train(DATA / "raw")
"""


def test_a_pipeline_that_does_not_fit_the_cluster_is_not_created(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "needy.py").write_text(NEEDY)
    assert flowdsl(["submit", "needy.py"]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    for text in (
        "PersistentVolumeClaim `datasets` in namespace `default`",
        "PriorityClass `high`",
        "Secret `hub` in namespace `default`",
        "the step `train`",
        "nothing was created in namespace `default`",
    ):
        assert text in said.err
    assert cluster.runs == []
    assert flowdsl(["submit", "needy.py", "--no-check", "--name", "anyway"]) == 0
    assert cluster.runs == ["anyway"]
    cluster.objects.drop(f"{WORKFLOWS}/anyway")
    core = "/api/v1/namespaces/default"
    cluster.objects.put(
        f"{core}/persistentvolumeclaims",
        {"metadata": {"name": "datasets"}, "spec": {"accessModes": ["ReadWriteMany"]}},
    )
    cluster.objects.put(f"{core}/secrets", {"metadata": {"name": "hub"}, "data": {"token": "eA=="}})
    cluster.objects.put("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}})
    assert flowdsl(["submit", "needy.py"]) == 0
    assert len(cluster.runs) == 1


def nodes(name: str, phase: str, message: str = "") -> Object:
    root = {
        "id": name,
        "name": name,
        "displayName": name,
        "type": "DAG",
        "phase": phase,
        "templateName": "tiny",
    }
    step = {
        "id": f"{name}-1",
        "name": f"{name}.train",
        "displayName": "train",
        "type": "Pod",
        "phase": phase,
        "message": message,
        "boundaryID": name,
        "templateName": "train",
        "startedAt": "2026-01-31T10:00:00Z",
    }
    return {
        name: root,
        f"{name}-1": {**step, **({"finishedAt": "2026-01-31T10:03:20Z"} if phase == "Succeeded" else {})},
    }


def test_the_steps_of_a_run_that_is_watched(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert flowdsl(["submit", "tiny.py", "--name", "one"]) == 0
    capsys.readouterr()

    def live() -> None:
        for phase, message in (("Pending", "Unschedulable: 0/5 nodes\x1b[31m"), ("Running", "")):
            found = cluster.objects.known[f"{WORKFLOWS}/one"]
            status = {"phase": "Running", "nodes": nodes("one", phase, message)}
            cluster.objects.put(WORKFLOWS, {**found, "status": status})
        cluster.end("one", nodes=nodes("one", "Succeeded"))

    timer = cluster.once_watched(live)
    assert flowdsl(["watch", "one", "--timeout", "60s"]) == 0
    timer.join()
    said = capsys.readouterr()
    assert said.err.splitlines() == [
        "train: waits: Unschedulable: 0/5 nodes\\x1b[31m",
        "train: started",
        "train: succeeded after 3m 20s",
    ]
    assert said.out == "one: Succeeded after 3m 20s\n"


def test_a_run_of_this_machine_is_waited_for_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.py").write_text(PIPELINE)
    assert flowdsl(["run", "tiny.py", "--name", "here", "--quiet"]) == 0
    capsys.readouterr()
    assert flowdsl(["wait", "here"]) == 0
    assert capsys.readouterr().out.startswith("here: Succeeded after ")
    assert flowdsl(["watch", "@latest"]) == 0
    assert "train: succeeded after " in capsys.readouterr().err


def test_a_run_of_this_machine_that_goes_or_breaks_while_it_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.py").write_text(PIPELINE)
    assert flowdsl(["run", "tiny.py", "--name", "here", "--quiet"]) == 0
    status = tmp_path / ".flowdsl/runs/here/workflow.json"
    going = json.loads(status.read_text())
    going["status"] = {"phase": "Running"}
    held = os.open(status.with_name("lock"), os.O_WRONLY)
    assert take(held)

    def ended(change: Callable[[], object]) -> int:
        """The exit code of a wait, with a change during its first pause."""

        def sleep(_: float) -> None:
            change()

        status.write_text(json.dumps(going))
        with monkeypatch.context() as patch:
            patch.setattr(time, "sleep", sleep)
            return flowdsl(["wait", "here"])

    assert ended(lambda: status.write_text("{")) == 4
    assert "workflow.json cannot be read: Expecting property name" in capsys.readouterr().err
    assert ended(lambda: status.parent.rename(tmp_path / "gone")) == 6
    assert "was deleted" in capsys.readouterr().err
    os.close(held)
