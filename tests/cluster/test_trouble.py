"""A cluster that refuses, hangs or says nonsense, again and again: what a command says then, and its exit code."""

from __future__ import annotations

import copy
import json
import re
import sys
import time
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl.cli.app import run as flowdsl
from flowdsl.runtime.artifacts.reader import Reader
from flowdsl.runtime.cluster import policy, transport
from flowdsl.runtime.cluster.follow import follow
from flowdsl.runtime.cluster.kinds import WORKFLOW
from flowdsl.runtime.cluster.kubernetes import Kubernetes
from flowdsl.runtime.cluster.policy import Policy
from flowdsl.runtime.cluster.transport import Access, Answer, Transport
from flowdsl.runtime.cluster.trouble import Misconfigured, Overdue, Refusal, Unreachable
from tests.cluster.faults import Fault
from tests.cluster.objects import kubeconfig
from tests.cluster.runs import PIPELINE, WORKFLOWS, Cluster, later

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Stopped = Callable[[], bool]

Object = dict[str, Any]


@pytest.fixture
def submitted(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> Cluster:
    """A cluster with the run `one`, which has not ended."""
    assert flowdsl(["submit", "tiny.py", "--name", "one"]) == 0
    capsys.readouterr()
    return cluster


# --- what was done though the answer was no ------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["504", "unanswered"])
@pytest.mark.usefixtures("impatient")
def test_a_run_that_was_created_though_every_answer_was_an_error(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], fault: Fault
) -> None:
    cluster.proxy.break_every("POST", "workflows", fault)
    assert flowdsl(["submit", "tiny.py", "--name", "one"]) == 0
    assert capsys.readouterr().out == "one\n"
    assert cluster.runs == ["one"]


@pytest.mark.usefixtures("impatient")
def test_a_run_that_nobody_can_look_for_is_uncertain(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.proxy.break_every("POST", "workflows", "504")
    cluster.proxy.break_every("GET", "workflows", "503")
    assert flowdsl(["submit", "tiny.py", "--name", "one"]) == 4
    said = capsys.readouterr().err
    assert "whether the run one was created is unknown; see\n  flowdsl get one" in said


def test_a_quota_that_somebody_else_used_at_the_same_time(cluster: Cluster) -> None:
    cluster.proxy.break_at(1, "409")
    assert flowdsl(["submit", "tiny.py", "--no-check", "--name", "one"]) == 0
    assert cluster.proxy.broken
    assert cluster.runs == ["one"]


@pytest.mark.usefixtures("impatient")
def test_a_server_that_could_not_create_it_created_nothing(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.proxy.break_every("POST", "workflows", "500")
    assert flowdsl(["submit", "tiny.py"]) == 3
    assert "cannot create" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "method", "said"),
    [
        (["stop", "one"], "PATCH", "one: stopping\n"),
        (["suspend", "one"], "PATCH", "one: suspended; flowdsl resume one resumes it\n"),
        (["delete", "one", "--yes"], "DELETE", "one: deleted\n"),
    ],
)
@pytest.mark.usefixtures("impatient")
def test_what_was_done_to_a_run_though_every_answer_was_an_error(
    submitted: Cluster, capsys: pytest.CaptureFixture[str], command: list[str], method: str, said: str
) -> None:
    submitted.proxy.break_every(method, "workflows", "504")
    assert flowdsl(command) == 0
    assert capsys.readouterr().out == said


@pytest.mark.parametrize(
    ("command", "method"),
    [
        (["stop", "one"], "PATCH"),
        (["suspend", "one"], "PATCH"),
        (["delete", "one", "--yes"], "DELETE"),
        (["retry", "two"], "PUT"),
    ],
)
def test_an_interruption_while_a_run_is_changed(
    submitted: Cluster,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    method: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert flowdsl(["submit", "tiny.py", "--name", "two"]) == 0
    submitted.end("two", "Failed")
    capsys.readouterr()
    opened = Transport.open

    def interrupted(self: Transport, verb: str, *arguments: Any, **named: Any) -> Any:
        if verb == method:
            raise KeyboardInterrupt
        return opened(self, verb, *arguments, **named)

    monkeypatch.setattr(Transport, "open", interrupted)
    assert flowdsl(command) == 130
    said = f"flowdsl: interrupted: whether {command[1]} was changed is unknown; repeat the command\n"
    assert capsys.readouterr().err == said


def test_a_server_that_is_away_is_said_while_it_is_tried(
    submitted: Cluster, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "_SILENT", 0.5)
    submitted.proxy.break_every("GET", "", "503")
    assert flowdsl(["get", "one", "--request-timeout", "500ms"]) == 3
    first, last = capsys.readouterr().err.splitlines()
    assert re.fullmatch("note: cannot get .*: made by the test; it is tried again for [12] seconds", first)
    assert re.fullmatch("flowdsl: cannot get .*: made by the test", last)


# --- a run that is there, and not seen -----------------------------------------------------------------------


@pytest.mark.parametrize("after", ["--wait", "--watch", "--logs"])
@pytest.mark.parametrize("fault", ["401", "503"])
@pytest.mark.usefixtures("impatient")
def test_a_run_that_is_created_and_cannot_be_followed(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], after: str, fault: Fault
) -> None:
    for within in ("watch=1", "/pods", "fieldSelector"):
        cluster.proxy.break_every("GET", within, fault)
    assert flowdsl(["submit", "tiny.py", "--name", "one", after]) == 4
    said = capsys.readouterr()
    assert said.out == "one\n"
    assert "come back to it with\n  flowdsl w" in said.err or "to follow it again" in said.err


@pytest.mark.parametrize("fault", ["401", "403", "503"])
@pytest.mark.usefixtures("impatient")
def test_a_watch_that_is_refused_loses_the_contact(
    submitted: Cluster, capsys: pytest.CaptureFixture[str], fault: Fault
) -> None:
    submitted.proxy.break_every("GET", "watch=1", fault)
    assert flowdsl(["wait", "one"]) == 4
    assert "come back to it with\n  flowdsl wait one\n" in capsys.readouterr().err


@pytest.mark.parametrize("fault", ["503", "unanswered", "empty", "hang", "drip", "drip before"])
def test_the_end_of_a_wait_is_kept_whatever_the_server_does(
    submitted: Cluster, capsys: pytest.CaptureFixture[str], fault: Fault
) -> None:
    submitted.proxy.late = 60
    for within in ("watch=1", "workflows/one"):
        submitted.proxy.pass_all()
        submitted.proxy.break_every("GET", within, fault)
        began = time.monotonic()
        assert flowdsl(["wait", "one", "--timeout", "2s"]) == 5
        assert 1.5 < time.monotonic() - began < 12  # one request alone may take 15 seconds
        assert len(submitted.proxy.seen) < 40


def test_the_end_of_a_wait_is_kept_by_a_watch_that_is_never_closed(
    submitted: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It brings something now and then, or nothing any more."""
    for often in (0.2, 30):

        def watched(path: object, query: Object, send: Callable[[Object], None], until: Stopped) -> None:
            end = time.monotonic() + 30
            while time.monotonic() < end and not until():
                send(
                    {
                        "type": "BOOKMARK",
                        "object": {"metadata": {"resourceVersion": query["resourceVersion"]}},
                    }
                )
                time.sleep(often)  # noqa: B023 -- called in this round

        monkeypatch.setattr(submitted.objects, "watch", watched)
        began = time.monotonic()
        assert flowdsl(["wait", "one", "--timeout", "2s"]) == 5
        assert time.monotonic() - began < 20


def test_the_end_of_an_answer_is_kept_though_it_may_be_silent_for_longer(
    submitted: Cluster, tmp_path: Path
) -> None:
    way = Transport(Access(kubeconfig=kubeconfig(submitted.proxy.url, tmp_path / "config")))
    query = {"watch": "1", "resourceVersion": "0", "timeoutSeconds": "30"}
    began = time.monotonic()
    with (
        way.open("GET", WORKFLOWS, query, seconds=30, within=1) as answer,
        pytest.raises(Unreachable, match=r"broke off|not ended in time"),
    ):
        b"".join(answer.pieces())
    assert time.monotonic() - began < 20


def test_an_answer_whose_beginning_has_no_end(submitted: Cluster, tmp_path: Path) -> None:
    way = Transport(Access(kubeconfig=kubeconfig(submitted.proxy.url, tmp_path / "config")))
    submitted.proxy.break_every("GET", "workflows", "drip before")
    with (
        pytest.raises(Unreachable, match=r"did not answer: Read timed out"),
        way.open("GET", WORKFLOWS, seconds=1),
    ):
        pass


def test_the_end_of_a_request_is_kept_by_a_list_of_many_pages(
    submitted: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pages: list[str] = []

    def listed(path: str, query: object) -> Object:
        pages.append(path)
        more = {"continue": "more"} if len(pages) < 2000 else {}
        return {"items": [], "metadata": {"resourceVersion": "1", **more}}

    monkeypatch.setattr(submitted.objects, "listed", listed)
    file = kubeconfig(submitted.proxy.url, tmp_path / "config")
    with pytest.raises(Overdue, match="the workflows were not listed to their end"):
        Kubernetes(Transport(Access(kubeconfig=file)), Policy().ending(0.5)).list(WORKFLOW)
    assert 1 < len(pages) < 2000


def test_a_version_that_is_always_forgotten_is_asked_for_less_and_less(submitted: Cluster) -> None:
    submitted.objects.compacted = sys.maxsize
    assert flowdsl(["wait", "one", "--timeout", "3s"]) == 5
    assert len(submitted.proxy.seen) < 30


def test_a_user_with_a_password(submitted: Cluster, tmp_path: Path) -> None:
    user = {"username": "ada", "password": "secret"}
    file = kubeconfig(submitted.proxy.url, tmp_path / "config", user=user)
    Kubernetes(Transport(Access(kubeconfig=file)), Policy(request=1.0)).get(WORKFLOW, "one")
    assert dict(submitted.objects.headers)["authorization"] == f"Basic {b64encode(b'ada:secret').decode()}"


def test_a_token_that_runs_out_while_a_run_is_followed(submitted: Cluster, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first")
    submitted.objects.tokens = {"first"}
    file = kubeconfig(submitted.proxy.url, tmp_path / "config", user={"tokenFile": str(token)})
    way = Kubernetes(Transport(Access(kubeconfig=file)), Policy(request=1.0).ending(10))
    changes = follow(way, WORKFLOW)
    assert [one and one.type for one in (next(changes), next(changes))] == ["ADDED", None]
    token.write_text("second")
    submitted.objects.tokens = {"second"}
    later(0.1, submitted.end, "one")
    seen = next(one for one in changes if one is not None)
    assert seen.object["status"]["phase"] == "Succeeded"


def test_a_login_that_ends_and_begins_anew_while_a_run_is_followed(
    submitted: Cluster, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("first")
    submitted.objects.tokens = {"first"}
    file = kubeconfig(submitted.proxy.url, tmp_path / "config", user={"tokenFile": str(token)})
    way = Kubernetes(Transport(Access(kubeconfig=file)), Policy(request=1.0).ending(10))
    changes = follow(way, WORKFLOW)
    assert [one and one.type for one in (next(changes), next(changes))] == ["ADDED", None]
    submitted.objects.tokens = set()
    submitted.proxy.break_every("GET", "watch=1", "cut")

    def log_in() -> None:
        token.write_text("second")
        submitted.objects.tokens = {"second"}
        submitted.proxy.pass_all()

    later(0.6, log_in)
    later(0.7, submitted.end, "one")
    seen = next(one for one in changes if one is not None)
    assert seen.object["status"]["phase"] == "Succeeded"


@pytest.mark.parametrize("command", [["get", "one"], ["list"], ["list", "-o", "json"]])
def test_a_run_that_no_controller_has_taken_says_so(
    submitted: Cluster, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert flowdsl(command) == 0
    assert "no controller has taken it" in capsys.readouterr().out
    submitted.end("one")
    assert flowdsl(command) == 0
    assert "no controller" not in capsys.readouterr().out


# --- nodes that cannot be read -------------------------------------------------------------------------------


def test_a_run_whose_nodes_are_in_a_database(submitted: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    found = submitted.objects.known[f"{WORKFLOWS}/one"]
    away = {"phase": "Running", "offloadNodeStatusVersion": "fnv:1"}
    submitted.objects.put(WORKFLOWS, {**found, "status": away})
    assert flowdsl(["get", "one"]) == 0
    said = capsys.readouterr()
    assert "Status:" in said.out
    assert "Running" in said.out
    assert said.err.startswith("note: the nodes of run `one` are in the controller's database")
    assert flowdsl(["get", "one", "-o", "name"]) == 0
    assert capsys.readouterr().out == "one\n"
    assert flowdsl(["get", "one", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == away
    assert flowdsl(["logs", "one"]) == 0
    assert "in the controller's database" in capsys.readouterr().err
    assert flowdsl(["fetch", "one"]) == 2
    for command in ("wait", "watch"):
        submitted.objects.put(WORKFLOWS, {**found, "status": away})
        timer = submitted.once_watched(lambda: submitted.end("one", offloadNodeStatusVersion="fnv:2"))
        assert flowdsl([command, "one", "--timeout", "60s"]) == 0
        timer.join()
        said = capsys.readouterr()
        assert said.out == "one: Succeeded after 3m 20s\n"
        assert said.err.count("no steps are shown") == (command == "watch")


# --- what is no answer, and what is no argument --------------------------------------------------------------


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "Bad_Name", "a\x1b[31m"])
@pytest.mark.parametrize(
    "command", ["wait", "watch", "get", "logs", "fetch", "stop", "suspend", "resume", "retry", "delete"]
)
def test_what_is_no_name_of_a_run(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], command: str, name: str
) -> None:
    assert flowdsl([command, name]) == 2
    said = capsys.readouterr().err
    assert "is not the name of a run" in said
    assert "\x1b" not in said
    assert not cluster.proxy.seen


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["submit", "tiny.py", "-n", "Bad/Name"], "is not the name of a namespace"),
        (["list", "-n", ".."], "is not the name of a namespace"),
        (["submit", "--from", "template/.."], "write template/NAME"),
        (["submit", "text.py", "-p", "text={{=1+1}}"], "Argo would evaluate"),
        (["run", "text.py", "-p", "text={{=1+1}}"], "Argo would evaluate"),
        (["submit", "text.py", "-p", "text=\udcff"], "not UTF-8 text"),
        (["resume", "one", "-p", "text=\udcff"], "not UTF-8 text"),
        (["retry", "one", "-p", "text={{workflow.name}}"], "Argo would evaluate"),
        (["list", "--request-timeout", "inf"], "at most a day"),
        (["list", "--request-timeout", "1e300"], "at most a day"),
        (["list", "--request-timeout", "nan"], "at most a day"),
        (["list", "--request-timeout", "0s"], "must be longer than 0"),
        (["list", "--request-timeout", "3 seconds"], "expected `3s`"),
    ],
)
def test_what_is_no_argument(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], text: str
) -> None:
    (tmp_path / "text.py").write_text(PIPELINE.replace("lr: float = 0.5", "text: str").replace("lr)", "0.5)"))
    assert flowdsl(arguments) == 2
    assert text in capsys.readouterr().err
    assert not cluster.proxy.seen


@pytest.mark.parametrize(
    "answer", [{}, {"kind": "Status", "status": "Success"}, {"metadata": []}, {"metadata": {"name": "one"}}]
)
@pytest.mark.usefixtures("impatient")
def test_an_answer_that_is_json_and_no_object(
    submitted: Cluster, capsys: pytest.CaptureFixture[str], answer: Object, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answered(*_: object) -> Object:
        return copy.deepcopy(answer)

    monkeypatch.setattr(submitted.objects, "answer", answered)
    for command in (["get", "one"], ["list"], ["stop", "one"]):
        assert flowdsl(command) == 3
        assert "not what the Kubernetes API gives" in capsys.readouterr().err


def test_a_watch_that_is_json_and_no_event(submitted: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def watched(path: object, query: object, send: Callable[[Object], object], until: object) -> None:
        send({"type": "ADDED"})

    monkeypatch.setattr(submitted.objects, "watch", watched)
    assert flowdsl(["wait", "one", "--timeout", "1s"]) == 5


def refusal(message: str, namespace: str) -> str:
    return str(Refusal(403, {"message": message}, "list", WORKFLOW, "", namespace))


def test_the_way_out_fits_the_refusal() -> None:
    assert refusal("forbidden", "team-a").endswith("can-i list workflows.argoproj.io -n team-a")
    assert refusal("forbidden", "").endswith("can-i list workflows.argoproj.io -A")
    denied = 'admission webhook "policy.example.com" denied the request: no image of that registry'
    assert refusal(denied, "team-a").endswith("no image of that registry")


def test_an_answer_may_take_longer_while_it_comes(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(40):
        spec = {"text": "x" * 1000}
        cluster.objects.put(WORKFLOWS, {"metadata": {"name": f"run-{number}"}, "spec": spec})

    def slowly(answer: Answer) -> Iterator[bytes]:
        for piece in whole(answer):
            for at in range(0, len(piece), 4_000):
                time.sleep(0.2)
                yield piece[at : at + 4_000]

    whole = Answer.pieces
    monkeypatch.setattr(Answer, "pieces", slowly)
    assert flowdsl(["list", "--request-timeout", "1.5"]) == 0
    monkeypatch.setattr(transport, "_SLOWEST", 1 << 20)
    assert flowdsl(["list", "--request-timeout", "1.5"]) == 3
    assert "came too slowly" in capsys.readouterr().err


def test_what_is_compared_is_in_the_namespace_that_is_named(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    spec = {"entrypoint": "main", "templates": [{"name": "main", "container": {"image": "a:1"}}]}
    document = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "WorkflowTemplate",
        "metadata": {"name": "t", "namespace": "other"},
        "spec": spec,
    }
    (tmp_path / "t.json").write_text(json.dumps(document))
    assert flowdsl(["diff", "t.json", "-n", "default"]) == 2
    assert "the workflow is for the namespace `other`" in capsys.readouterr().err
    assert flowdsl(["diff", "t.json", "-n", "other"]) == 1


def test_a_pipeline_is_compared_with_its_newest_run_whatever_its_name(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("tiny-0a1b2c3d4e", "mine", "tiny-of-template")
    for day, name in enumerate(names):
        assert flowdsl(["submit", "tiny.py", "--name", name]) == 0
        made = cluster.objects.known[f"{WORKFLOWS}/{name}"]["metadata"]
        made["creationTimestamp"] = f"2026-02-0{day + 1}T00:00:00Z"
    labels = cluster.objects.known[f"{WORKFLOWS}/{names[-1]}"]["metadata"]["labels"]
    del labels["flowdsl.dev/spec"]  # as in a run of a template
    capsys.readouterr()
    assert flowdsl(["diff", "tiny.py"]) == 0
    assert capsys.readouterr().err == "Workflow/tiny-: compared with the run mine\n"


def test_a_run_here_that_nobody_runs_has_an_unknown_end(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / ".flowdsl/runs/mine"
    folder.mkdir(parents=True)
    found = {"metadata": {"name": "mine"}, "spec": {}, "status": {"phase": "Running"}}
    (folder / "workflow.json").write_text(json.dumps(found))
    assert flowdsl(["wait", "mine"]) == 4
    assert "flowdsl run --resume mine" in capsys.readouterr().err


# --- settings ------------------------------------------------------------------------------------------------


def changed(file: Path, change: Callable[[Object], object]) -> Path:
    config = json.loads(file.read_text())
    change(config)
    file.write_text(json.dumps(config))
    return file


@pytest.mark.parametrize("current", [None, "", "gone"])
def test_a_context_that_is_named_needs_no_current_one(
    cluster: Cluster, tmp_path: Path, current: str | None
) -> None:
    file = kubeconfig(cluster.proxy.url, tmp_path / "config", "team-a")
    changed(file, lambda config: config.update({"current-context": current}))
    assert Transport(Access("test", kubeconfig=file)).namespace == "team-a"
    with pytest.raises(Misconfigured, match="it has test"):
        Transport(Access(kubeconfig=file))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["/no/such/login"], "No such file or directory: '/no/such/login'"),
        (["/bin/sh", "-c", "echo please log in >&2; exit 3"], "please log in"),
        (["/bin/echo", "null"], "`/bin/echo` gave none that can be used: "),
        (
            ["/bin/sh", "-c", "echo the end; yes usage | head -1000 >&2; exit 3"],
            r"(usage ){100,160}\w*  *\.\.\.$",
        ),
        (["no-such-login"], "there is no program `no-such-login`, which gives them: brew install it$"),
    ],
)
def test_a_login_that_fails_is_said(tmp_path: Path, command: list[str], said: str) -> None:
    login = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": command[0],
        "args": command[1:],
        "installHint": "brew\n  install it",
        "interactiveMode": "Never",
    }
    file = kubeconfig("https://127.0.0.1:9", tmp_path / "config", user={"exec": login})
    with pytest.raises(Misconfigured, match=f"no credentials for the context `test`: .*{said}") as found:
        Transport(Access(kubeconfig=file))
    assert "Errno" not in str(found.value)


@pytest.mark.parametrize("server", ["https://127.0.0.1:99999", "the server"])
def test_an_address_that_is_none_is_tried_once(tmp_path: Path, server: str) -> None:
    way = Kubernetes(Transport(Access(kubeconfig=kubeconfig(server, tmp_path / "config"))), Policy(request=5))
    with pytest.raises(Unreachable, match="cannot be reached") as found:
        way.get(WORKFLOW, "one")
    assert found.value.lasting


def test_a_cluster_without_a_server_is_said(tmp_path: Path) -> None:
    file = kubeconfig("", tmp_path / "config")
    changed(file, lambda config: config["clusters"][0]["cluster"].clear())
    with pytest.raises(Misconfigured, match="has no `server`"):
        Transport(Access(kubeconfig=file))


def test_a_refusal_after_an_answer_was_lost_leaves_no_doubt(cluster: Cluster, tmp_path: Path) -> None:
    cluster.proxy.break_at(1, "unanswered")
    file = kubeconfig(cluster.proxy.url, tmp_path / "config")

    def refuse_from_now_on(_: float) -> None:
        cluster.proxy.break_every("POST", "workflows", "403")

    way = Kubernetes(Transport(Access(kubeconfig=file)), Policy(request=5, sleep=refuse_from_now_on))
    body = {"metadata": {"name": "one", "annotations": {"flowdsl.dev/submit-id": "x"}}, "spec": {}}
    assert way.create(WORKFLOW, body)["metadata"]["name"] == "one"
    assert [one.method for one in cluster.proxy.seen] == ["POST", "POST", "GET"]


def test_a_pod_that_was_created_though_the_answer_was_lost_reads_its_claim(
    cluster: Cluster, tmp_path: Path
) -> None:
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    cluster.objects.admit = lambda body: {**body, "status": status}
    cluster.proxy.break_at(1, "unanswered")
    file = kubeconfig(cluster.proxy.url, tmp_path / "config")
    reader = Reader(Kubernetes(Transport(Access(kubeconfig=file)), Policy(request=5)), "default", "data")
    reader.start({"metadata": {"name": "one"}}, "python:3.12-slim")
    assert [path.rpartition("/")[2] for path in cluster.objects.known if "/pods/" in path] == [reader.name]
