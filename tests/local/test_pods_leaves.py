"""Inputs from elsewhere, and the leaves that are no containers; the servers are on this machine."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.local.harness import PYTHON, Harness, harness, result, sh
from tests.loopback import Loopback

Json = dict[str, Any]


class Echo(http.server.BaseHTTPRequestHandler):
    """Answers with the request; `/404` and the like with that status."""

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        status = int(self.path.strip("/")) if self.path.strip("/").isdigit() else 200
        text = json.dumps({"method": self.command, "body": body, "token": self.headers.get("X-Token")})
        if "said" in self.path:
            text = self.path
        self.send_response(status)
        self.send_header("X-Made", "here")
        self.end_headers()
        self.wfile.write(text.encode() if "bytes" not in self.path else b"\xe6\x97\n")

    do_GET = do_POST = do_PUT = answer  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    with Loopback(Echo) as server:
        yield server.url


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Harness]:
    with harness(tmp_path, secrets={"s": {"token": "secret"}}) as made:
        yield made


def test_a_request_has_its_answer_as_the_result(one: Harness, url: str) -> None:
    done = one.run({"http": {"url": url}})
    assert done.phase == "Succeeded"
    assert json.loads(result(done)) == {"method": "GET", "body": "", "token": None}
    header = {"name": "X-Token", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}}
    done = one.run({"http": {"url": url, "method": "POST", "body": "hello", "headers": [header]}})
    assert json.loads(result(done)) == {"method": "POST", "body": "hello", "token": "secret"}
    done = one.run({"http": {"url": url, "method": "PUT", "bodyFrom": {"bytes": "aGVsbG8="}}})
    assert json.loads(result(done))["body"] == "hello"
    assert result(one.run({"http": {"url": url + "/bytes"}})) == "\ufffd\ufffd\n"


def test_a_url_and_a_header_may_have_any_characters_in_them(one: Harness, url: str) -> None:
    done = one.run({"http": {"url": url + "/said/gr\u00fc\u00df \u65e5%20?q=\u00fc%20"}})
    assert result(done) == "/said/gr%C3%BC%C3%9F%20%E6%97%A5%20?q=%C3%BC%20"
    done = one.run({"http": {"url": url, "headers": [{"name": "X-Token", "value": "gr\u00fc\u65e5"}]}})
    assert json.loads(result(done))["token"].encode("latin-1").decode() == "gr\u00fc\u65e5"
    assert result(load(one, {"http": {"url": url + "/said/\u00fc"}})) == "/said/%C3%BC"
    for bad in ("http://\u00fc..invalid/", "ftp://here", "no url", url + "/?a b", "http://[::1/"):
        assert one.run({"http": {"url": bad}}).phase == "Failed"
        assert load(one, {"http": {"url": bad}}).phase == "Error"


@pytest.mark.parametrize(
    ("path", "condition", "message"),
    [
        ("/404", None, "received non-2xx response code: 404"),
        ("/404", "response.statusCode == 404", ""),
        ("/", 'response.body contains "GET" && response.headers["X-Made"][0] == "here"', ""),
        ("/", 'request.method == "" && request.body == "" && len(request.bodyBytes) == 0', ""),
        ("/", "response.statusCode == 201", "successCondition 'response.statusCode == 201' evaluated false"),
    ],
)
def test_a_condition_decides_about_a_request(
    one: Harness, url: str, path: str, condition: str | None, message: str
) -> None:
    done = one.run({"http": {"url": url + path, **({"successCondition": condition} if condition else {})}})
    assert (done.phase, done.message) == ("Failed" if message else "Succeeded", message)


def test_a_request_that_gets_no_answer_has_failed(one: Harness) -> None:
    done = one.run({"http": {"url": "http://127.0.0.1:9/"}})
    assert done.phase == "Failed"
    assert done.message == 'Get "http://127.0.0.1:9/": Connection refused; give its answer with --fake'


def test_a_file_from_a_server_that_does_not_answer_is_said_with_the_way_out(one: Harness) -> None:
    file = {"name": "f", "path": "/tmp/f", "http": {"url": "http://127.0.0.1:9/f"}}
    done = one.run({"container": {"image": "a", "command": ["true"]}, "inputs": {"artifacts": [file]}})
    assert done.message == (
        "init: Error (exit code 64): artifact f failed to load: http://127.0.0.1:9/f: Connection refused; "
        "give it to the run: --artifact f=PATH"
    )


def test_a_key_without_an_object_is_said_in_the_words_of_the_store_with_the_way_out(one: Harness) -> None:
    file = {"name": "f", "path": "/tmp/f", "s3": {"key": "no/such"}}
    done = one.run({"container": {"image": "a", "command": ["true"]}, "inputs": {"artifacts": [file]}})
    assert done.message == (
        "init: Error (exit code 64): artifact f failed to load: The specified key does not exist. The key no/such is "
        "not among the artifacts of this run; give it to the run: --artifact f=PATH"
    )


def test_data_lists_the_keys_of_the_store(one: Harness) -> None:
    """In the order of S3: by their bytes, whatever folder they are in."""
    for name in ("a.py", "b.pdf", "a/d.py"):
        path = one.artifact(f"in/{name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    one.artifact("in2").write_text("")
    source = {"artifactPaths": {"name": "x", "s3": {"bucket": "b", "key": "in"}}}
    steps = [{"expression": 'filter(data, {# endsWith ".py"})'}, {"expression": 'map(data, {# + "!"})'}]
    assert json.loads(result(one.run({"data": {"source": source, "transformation": []}}))) == [
        "in/a.py",
        "in/a/d.py",
        "in/b.pdf",
    ]
    done = one.run({"data": {"source": source, "transformation": steps}})
    assert json.loads(result(done)) == ["in/a.py!", "in/a/d.py!"]
    assert one.run({"data": {"source": source, "transformation": [{"expression": "nope"}]}}).phase == "Failed"


def test_data_needs_a_bucket_of_its_own(one: Harness) -> None:
    done = one.run({"data": {"source": {"artifactPaths": {"name": "x", "s3": {"key": "in"}}}}})
    assert (done.phase, done.outputs) == ("Failed", {"exitCode": "64"})
    assert done.message.endswith(": failed to list directory: Bucket name cannot be empty")


def test_a_folder_stands_for_what_data_lists(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    (mine / "sub").mkdir(parents=True)
    (mine / "sub" / "a.csv").write_text("1")
    (mine / ".flowdsl").mkdir()
    (mine / ".flowdsl" / "old.csv").write_text("2")
    source = {"artifactPaths": {"name": "raw", "s3": {"bucket": "b", "key": "in"}}}
    template: Json = {"data": {"source": source, "transformation": []}}
    reads = {"name": "f", "path": "/tmp/f", "s3": {"key": "in/sub/a.csv"}}
    for given in ("raw", "in"):
        with harness(tmp_path / given, artifacts={given: mine}) as pods:
            assert json.loads(result(pods.run(template))) == ["in/sub/a.csv"]
            done = pods.run({**sh("cat /tmp/f"), "inputs": {"artifacts": [reads]}}, result=True)
            assert result(done) == "1"


def test_plugins_and_changes_of_a_cluster_are_refused_with_the_reason(one: Harness) -> None:
    assert one.run({"plugin": {"hello": {}}}).phase == "Error"
    done = one.run({"resource": {"action": "create", "manifest": "kind: Job"}})
    assert done.phase == "Error"
    assert "--kubectl" in done.message


KUBECTL = f"""{PYTHON}
import json, os, sys
log = os.environ["FAKE_LOG"]
with open(log, "a") as file:
    file.write(" ".join(sys.argv[1:]) + "\\n")
looks = open(log).read().count(" get job.batch/j -o json\\n")
if "jsonpath={{.status.n}}" in sys.argv:
    print(7, end="")
elif "bad" in sys.argv:
    sys.exit("no such thing")
elif sys.argv[-1] == "name":
    print("job.batch/j")
else:
    status = {{"phase": "Done" if looks > 1 else "Running", "n": 7}}
    meta = {{"name": "j", "namespace": "ns"}}
    print(json.dumps({{"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "status": status}}))
"""


#: A jq that supports only the filter `.status`: with `-c` on one line, with `-S` with sorted keys.
JQ = f"""{PYTHON}
import json, sys
assert sys.argv[2] == ".status"
short = {{"separators": (",", ":")}} if "c" in sys.argv[1] else {{"indent": 2}}
print(json.dumps(json.load(sys.stdin)["status"], sort_keys="S" in sys.argv[1], **short))
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of above, instead of those of this machine."""
    (tmp_path / "bin").mkdir()
    for name, text in (("kubectl", KUBECTL), ("jq", JQ)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))


@pytest.mark.usefixtures("tools")
def test_an_object_of_a_cluster_is_made_and_waited_for(tmp_path: Path) -> None:
    with harness(tmp_path, kubectl=True) as pods:
        wanted = {
            "action": "create",
            "manifest": "kind: Job",
            "successCondition": "status.phase in (Done, Over)",
        }
        ways = {"n": {"jsonPath": "{.status.n}"}, "all": {"jqFilter": ".status"}}
        outputs = {"parameters": [{"name": name, "valueFrom": way} for name, way in ways.items()]}
        done = pods.run({"resource": wanted, "outputs": outputs})
        assert done.phase == "Succeeded", done
        assert done.outputs is not None
        assert done.outputs["parameters"] == [
            {"name": "n", "value": "7", "valueFrom": {"jsonPath": "{.status.n}"}},
            {"name": "all", "value": '{"n":7,"phase":"Done"}', "valueFrom": {"jqFilter": ".status"}},
        ]
        lines = (tmp_path / "log").read_text().splitlines()
        assert lines[0].startswith("create -f ")
        assert lines[0].endswith(" -o json")
        assert "no such thing" in pods.run({"resource": {"action": "get", "flags": ["bad"]}}).message
        assert pods.run({"resource": {"action": "delete", "flags": ["job", "j"]}}).phase == "Succeeded"
        assert (tmp_path / "log").read_text().splitlines()[-1] == "delete --ignore-not-found job j -o name"
        patch = {"action": "patch", "mergeStrategy": "json", "manifest": "[]", "flags": ["job", "j"]}
        assert pods.run({"resource": patch}).phase == "Succeeded"
        assert (tmp_path / "log").read_text().splitlines()[-1].startswith("patch --type json --patch-file ")
        nothing = pods.run({"resource": {"action": "get"}})
        assert nothing.message.endswith(": Must provide at least one of flags or manifest.")


#: What makes the object above fail, as `Requirement.String` of k8s.io/apimachinery 0.35.4 has it, or nothing.
FAILURES = {
    "status.n > 3": "status.n>3",
    "status.n = 7": "status.n=7",
    "status.z notin (b,a), status.n == 7": "status.n==7",
    "status.z  notin (b, a)": "status.z notin (a,b)",
    "! status.z": "!status.z",
    "status.n > 8": "",
}


@pytest.mark.usefixtures("tools")
def test_an_object_fails_or_is_as_it_should_be(tmp_path: Path) -> None:
    """One without a condition of success is, unless it has failed. Source: matchConditions of Argo."""
    with harness(tmp_path, kubectl=True) as pods:
        for number, (condition, wanted) in enumerate(FAILURES.items()):
            resource = {"action": "get", "flags": ["j"], "failureCondition": condition}
            said = f"main: Error (exit code 64): failure condition '{wanted}' evaluated true"
            done = pods.run({"resource": resource}, str(number))
            assert (done.phase, done.message) == (("Failed", said) if wanted else ("Succeeded", ""))


LISTED = "cd /in && find ."
"""For an optional input that is missing: its path is mounted, and the kubelet creates an empty folder."""


def load(pods: Harness, artifact: Json, text: str = "cat /in") -> Any:
    inputs: Json = {"artifacts": [{"name": "in", "path": "/in", **artifact}]}
    return pods.run({**sh(text), "inputs": inputs}, result=True)


def test_an_input_comes_from_a_url(one: Harness, url: str) -> None:
    assert '"GET"' in result(load(one, {"http": {"url": url}}))
    assert "404" in load(one, {"http": {"url": url + "/404"}}).message
    assert result(load(one, {"http": {"url": url + "/404"}, "optional": True}, LISTED)) == "."
    assert "unsupported protocol" in load(one, {"http": {"url": "file:///etc/passwd"}}).message


def test_an_input_comes_from_a_repository(one: Harness, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    who = ["-c", "user.name=x", "-c", "user.email=x@y"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "1"], ["tag", "v1"]):
        (folder / "x").write_text("first")
        subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)
    (folder / "x").write_text("second")
    subprocess.run(["git", *who, "commit", "-qam", "2"], cwd=folder, check=True, capture_output=True)
    assert result(load(one, {"git": {"repo": str(folder)}}, "cat /in/x")) == "second"
    assert result(load(one, {"git": {"repo": str(folder), "revision": "v1"}}, "cat /in/x")) == "first"
    missing = load(one, {"git": {"repo": str(folder), "revision": "v9"}})
    assert missing.phase == "Error"
    assert missing.message.endswith("; give it to the run: --artifact in=PATH")
    assert load(one, {"git": {"repo": "--upload-pack=x"}}).phase == "Error"


def test_an_input_that_no_step_has_made_is_given_by_the_user(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with harness(tmp_path, artifacts={"models/x": tmp_path / "mine"}) as pods:
        assert result(load(pods, {"s3": {"key": "models/x", "bucket": "b"}})) == "mine"
        assert result(load(pods, {"gcs": {"key": "models/x"}})) == "mine"
        assert result(load(pods, {"azure": {"blob": "models/x"}})) == "mine"
        done = load(pods, {"s3": {"key": "models/y"}})
        assert done.phase == "Error"
        assert "--artifact in=PATH" in done.message
        assert result(load(pods, {"s3": {"key": "models/y"}, "optional": True}, LISTED)) == "."
        assert load(pods, {}).message == "init: Error (exit code 64): required artifact 'in' not supplied"
        for nowhere in ({}, {"http": {"url": ""}}, {"git": {"repo": ""}}, {"s3": {"bucket": "b"}}):
            assert load(pods, {"optional": True, **nowhere}, "test ! -e /in").phase == "Succeeded"


def test_a_key_is_a_folder_of_what_is_below_it_only(one: Harness) -> None:
    for name in ("x/p/1", "x/p/10", "x/p2/1"):
        one.artifact(name).parent.mkdir(parents=True, exist_ok=True)
        one.artifact(name).write_text(name)
    assert result(load(one, {"s3": {"key": "x/p"}}, "cd /in; find . -type f | sort")) == "./1\n./10"


def test_modes_are_set_below_a_folder_where_that_is_wanted(one: Harness) -> None:
    one.artifact("d/e").mkdir(parents=True)
    one.artifact("d/e/f").write_text("")
    text = "stat -c %a /in /in/e/f"
    assert result(load(one, {"s3": {"key": "d"}, "mode": 0o750, "recurseMode": True}, text)) == "750\n750"
