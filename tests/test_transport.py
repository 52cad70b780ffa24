"""The way to an API server: settings, credentials, and answers that break off. Run with each version of the client."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl.runtime.cluster.argo_transport import Connections, server_of
from flowdsl.runtime.cluster.follow import follow
from flowdsl.runtime.cluster.kinds import POD, SECRET, WORKFLOW
from flowdsl.runtime.cluster.kubernetes import Kubernetes
from flowdsl.runtime.cluster.policy import Policy
from flowdsl.runtime.cluster.seam import Excerpt, metadata_of
from flowdsl.runtime.cluster.transport import Access, Transport
from flowdsl.runtime.cluster.trouble import Misconfigured, Overdue, Refusal, Unconfigured, Unreachable
from tests.cluster.faults import FAULTS, Fault, Proxy
from tests.cluster.objects import Objects, kubeconfig, serving
from tests.loopback import Loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Object = dict[str, Any]

WORKFLOWS = "/apis/argoproj.io/v1alpha1/namespaces/team-a/workflows"
QUICK = Policy(request=1.0)


@pytest.fixture
def objects() -> Objects:
    made = Objects()
    made.put(WORKFLOWS, {"metadata": {"name": "one", "labels": {"a": "b"}}, "spec": {}})
    return made


@pytest.fixture
def url(objects: Objects) -> Iterator[str]:
    with serving(objects) as served:
        yield served.url


def connect(file: Path, policy: Policy = QUICK, context: str | None = None) -> Kubernetes:
    return Kubernetes(Transport(Access(context=context, kubeconfig=file)), policy)


def test_the_version_of_the_client_is_the_one_that_is_asked_for() -> None:
    wanted = os.environ.get("FLOWDSL_KUBERNETES")
    from importlib.metadata import version

    assert wanted is None or version("kubernetes").startswith(wanted)


def test_settings_name_the_namespace_and_the_cluster(url: str, tmp_path: Path) -> None:
    cluster = connect(kubeconfig(url, tmp_path / "config", "team-a"))
    assert cluster.namespace == "team-a"
    assert cluster.called == "cluster `test`"
    assert cluster.get(WORKFLOW, "one")["metadata"]["labels"] == {"a": "b"}


def test_no_proxy_is_asked_for_this_machine(url: str, tmp_path: Path) -> None:
    """As with kubectl, whatever the variables say: nothing listens on the port of the proxy."""
    given = {name: one for name, one in os.environ.items() if name.lower() != "no_proxy"}
    given["KUBECONFIG"] = str(kubeconfig(url, tmp_path / "config", "team-a"))
    closed = "http://127.0.0.1:9"
    for more in ({}, {"NO_PROXY": "example.com"}):
        environment = {**given, "http_proxy": closed, "HTTPS_PROXY": closed, **more}
        command = [sys.executable, "-m", "flowdsl.cli", "list", "--request-timeout", "5"]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "one" in done.stdout


def behind(proxy: str, url: str, path: Path) -> Path:
    """A kubeconfig of a cluster behind a proxy."""
    file = kubeconfig(url, path)
    file.write_text(file.read_text().replace('"server"', f'"proxy-url": "{proxy}", "server"'))
    return file


@pytest.mark.usefixtures("impatient")
def test_a_proxy_that_the_settings_name(url: str, tmp_path: Path) -> None:
    cluster = connect(behind("http://127.0.0.1:9", url, tmp_path / "config"), Policy())
    with pytest.raises(Unreachable, match=r"through the proxy http://127.0.0.1:9: Connection refused$"):
        cluster.get(WORKFLOW, "one")


@pytest.fixture
def from_outside(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sets a proxy by the variables of the environment."""

    def named(proxy: str) -> None:
        for name in ("http_proxy", "https_proxy", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.upper(), raising=False)
        monkeypatch.setenv("HTTPS_PROXY", proxy)

    return named


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("proxy", ["127.0.0.1:9", "http://127.0.0.1:9"])
def test_a_proxy_of_the_environment(proxy: str, from_outside: Callable[[str], None], tmp_path: Path) -> None:
    from_outside(proxy)
    there = Transport(Access(kubeconfig=kubeconfig("https://10.0.0.9", tmp_path / "config")))
    argo = Connections(server_of("10.0.0.9:2746", {}))
    for transport in (there, argo):
        cluster = Kubernetes(transport, Policy())
        with pytest.raises(Unreachable, match=r"through the proxy http://127.0.0.1:9: Connection refused$"):
            cluster.get(WORKFLOW, "one")


def test_the_environment_says_what_no_proxy_is_asked_for(
    url: str, from_outside: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from_outside("http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Connections(server_of(url, {})).open("GET", WORKFLOWS, seconds=5) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("proxy", ["ftp://127.0.0.1:9", "htp://127.0.0.1:9"])
def test_what_is_no_proxy(proxy: str, from_outside: Callable[[str], None], tmp_path: Path) -> None:
    from_outside(proxy)
    said = f"^{proxy} is not the address of a proxy: one looks like http://proxy.example.com:3128$"
    with pytest.raises(Misconfigured, match=said):
        connect(kubeconfig("https://10.0.0.9", tmp_path / "config"))
    with pytest.raises(Misconfigured, match=said):
        Connections(server_of("10.0.0.9:2746", {}))


class _Short(BaseHTTPRequestHandler):
    """Answers with less than it announces."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"a":')

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.mark.usefixtures("impatient")
def test_an_answer_that_breaks_off(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Short) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cluster = connect(kubeconfig(f"http://127.0.0.1:{server.server_port}", tmp_path / "config"), Policy())
        said = "the answer broke off: Connection broken: IncompleteRead(5 bytes read, 995 more expected)"
        with pytest.raises(Unreachable, match=f"^{re.escape(said)}$"):
            cluster.get(WORKFLOW, "one")
        server.shutdown()


def test_an_address_without_a_scheme_is_read_as_kubectl_reads_it(url: str, tmp_path: Path) -> None:
    cluster = connect(kubeconfig(url.removeprefix("http://"), tmp_path / "config", "team-a"))
    assert cluster.get(WORKFLOW, "one")


@pytest.mark.parametrize("what", ["cluster", "user"])
def test_a_context_that_names_what_is_not_there(what: str, url: str, tmp_path: Path) -> None:
    file = kubeconfig(url, tmp_path / "config")
    found = json.loads(file.read_text())
    found["contexts"][0]["context"][what] = "gone"
    file.write_text(json.dumps(found))
    with pytest.raises(Misconfigured, match=f"the context `test` names the {what} `gone`, which {file} does"):
        connect(file)


@pytest.mark.skipif(find_spec("socks") is not None, reason="the package that SOCKS needs is installed")
@pytest.mark.filterwarnings("ignore:SOCKS support in urllib3")
def test_a_proxy_that_needs_a_package(from_outside: Callable[[str], None], tmp_path: Path) -> None:
    file = behind("socks5://127.0.0.1:9", "https://10.0.0.9", tmp_path / "config")
    said = "the proxy socks5://127.0.0.1:9 speaks SOCKS: pip install --upgrade kubernetes pysocks"
    with pytest.raises(Misconfigured, match=said):
        connect(file)
    from_outside("socks5://127.0.0.1:9")
    with pytest.raises(Misconfigured, match=said):
        Connections(server_of("10.0.0.9:2746", {}))


def test_settings_may_be_several_files(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubeconfig(url, tmp_path / "config", "team-a")
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'none'}{os.pathsep}{tmp_path / 'config'}")
    assert Kubernetes(Transport(Access()), QUICK).get(WORKFLOW, "one")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read"),
        (
            "kind: Config\n\tusers: []\n",
            r"read: its line 2 is not YAML: found character '\\t' .* in /.*config$",
        ),
        ("", "cannot be read"),
        ("[]", "config is not a kubeconfig"),
        ("hello", "config is not a kubeconfig"),
        ("\N{DEGREE SIGN}", "config is not a kubeconfig"),
        ('{"clusters": [], "contexts": [], "users": [], "current-context": "x"}', "it has none"),
        (None, "there is no cluster to talk to"),
    ],
)
def test_settings_that_cannot_be_used(text: str | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / "config"
    if text is not None:
        file.write_text(text, encoding="latin-1")
    with pytest.raises(Misconfigured, match=said):
        connect(file)


def test_the_account_of_a_pod_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "")
    monkeypatch.setattr("flowdsl.runtime.cluster.transport._ACCOUNT", tmp_path / "account")
    with pytest.raises(Unconfigured, match="there is no cluster to talk to"):
        Transport(Access())
    (tmp_path / "account").mkdir()
    with pytest.raises(Misconfigured, match=r"cannot be read: [^.]+, in \S+/account$"):
        Transport(Access())


def test_a_token_that_has_run_out_is_fetched_again(objects: Objects, url: str, tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    helper = tmp_path / "login.py"
    helper.write_text(
        "import json, pathlib, sys\n"
        "file = pathlib.Path(__file__).with_name('count')\n"
        "count = int(file.read_text()) + 1\n"
        "file.write_text(str(count))\n"
        "version = 'client.authentication.k8s.io/v1'\n"
        "status = {'token': f'token-{count}'}\n"
        "print(json.dumps({'apiVersion': version, 'kind': 'ExecCredential', 'status': status}))\n"
    )
    login = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": [str(helper)],
        "interactiveMode": "Never",
    }
    cluster = connect(kubeconfig(url, tmp_path / "config", "team-a", {"exec": login}))
    objects.tokens = {"token-1"}
    assert cluster.get(WORKFLOW, "one")
    objects.tokens = {"token-2"}
    assert cluster.get(WORKFLOW, "one")
    objects.tokens = {"none"}
    with pytest.raises(Refusal, match="log in to the cluster again") as refused:
        cluster.get(WORKFLOW, "one")
    assert refused.value.code == 401


def test_a_token_in_a_file_that_is_replaced(objects: Objects, url: str, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first")
    cluster = connect(kubeconfig(url, tmp_path / "config", "team-a", {"tokenFile": str(token)}))
    objects.tokens = {"first"}
    assert cluster.get(WORKFLOW, "one")
    token.write_text("second")
    objects.tokens = {"second"}
    assert cluster.get(WORKFLOW, "one")


def test_more_connections_than_files_are_usual(url: str, tmp_path: Path) -> None:
    import resource

    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(200, most), most))
    try:
        cluster = connect(kubeconfig(url, tmp_path / "config", "team-a"))
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (min(10240, most), most)
        assert cluster.get(WORKFLOW, "one")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def test_a_login_that_fails_for_a_while(objects: Objects, url: str, tmp_path: Path) -> None:
    """The credential plugin has no network: it is retried, as requests are."""
    (tmp_path / "count").write_text("0")
    script = (
        'cd "$1"; count=$(($(cat count) + 1)); echo $count > count; '
        "test $count = 2 -o $count -gt 9 && { echo no network >&2; exit 1; }; "
        'echo "{\\"apiVersion\\": \\"client.authentication.k8s.io/v1\\", \\"kind\\": \\"ExecCredential\\", '
        '\\"status\\": {\\"token\\": \\"token-$count\\"}}"'
    )
    login = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "/bin/sh",
        "args": ["-c", script, "login", str(tmp_path)],
        "interactiveMode": "Never",
    }
    cluster = connect(kubeconfig(url, tmp_path / "config", "team-a", {"exec": login}))
    objects.tokens = {"token-3"}
    assert cluster.get(WORKFLOW, "one")
    objects.tokens = set()
    cluster.policy = cluster.policy.ending(0.5)
    (tmp_path / "count").write_text("9")
    with pytest.raises(Overdue, match="takes the credentials no more, and there are no"):
        cluster.get(WORKFLOW, "one")


def test_credentials_are_read_again_by_one_of_many(objects: Objects, url: str, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first")
    transport = Transport(
        Access(kubeconfig=kubeconfig(url, tmp_path / "config", "team-a", {"tokenFile": str(token)}))
    )
    with transport.open("GET", f"{WORKFLOWS}/one", seconds=1) as one:
        with transport.open("GET", f"{WORKFLOWS}/one", seconds=1) as other:
            transport.renew(one.way)
            transport.renew(other.way)
    with transport.open("GET", f"{WORKFLOWS}/one", seconds=1) as after:
        transport.renew(one.way)
        with transport.open("GET", f"{WORKFLOWS}/one", seconds=1) as last:
            assert one.way is other.way
            assert one.way is not after.way
            assert last.way is after.way


def test_a_user_who_asks_as_another_one(objects: Objects, url: str, tmp_path: Path) -> None:
    user = {
        "token": "secret",
        "as": "someone",
        "as-uid": "7",
        "as-groups": ["vision", "readers"],
        "as-user-extra": {"acme.com/reason": ["on call", "asked"]},
    }
    assert connect(kubeconfig(url, tmp_path / "config", "team-a", user)).get(WORKFLOW, "one")
    assert sorted(one for one in objects.headers if one[0].startswith("Impersonate-")) == [
        ("Impersonate-Extra-acme.com%2Freason", "asked"),
        ("Impersonate-Extra-acme.com%2Freason", "on call"),
        ("Impersonate-Group", "readers"),
        ("Impersonate-Group", "vision"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-User", "someone"),
    ]


def test_credentials_are_in_no_message(objects: Objects, url: str, tmp_path: Path) -> None:
    objects.tokens = set()
    cluster = connect(kubeconfig(url, tmp_path / "config", "team-a", {"token": "c4n4ry"}))
    with pytest.raises(Refusal) as refused:
        cluster.get(SECRET, "one")
    assert "c4n4ry" not in f"{refused.value}{refused.value!r}{refused.value.status}"


def test_a_long_list_is_read_page_by_page(objects: Objects, url: str, tmp_path: Path) -> None:
    for number in range(7):
        objects.put(WORKFLOWS, {"metadata": {"name": f"run-{number}"}, "spec": {}})
    cluster = connect(kubeconfig(url, tmp_path / "config", "team-a"))
    assert len(cluster.list(WORKFLOW).items) == 8
    assert [one["metadata"]["name"] for one in cluster.list(WORKFLOW, labels="a=b").items] == ["one"]


def test_of_many_objects_only_what_is_wanted_is_sent_and_kept(
    objects: Objects, url: str, tmp_path: Path
) -> None:
    objects.put(WORKFLOWS, {"metadata": {"name": "two"}, "spec": {"a": "b"}})
    cluster = connect(kubeconfig(url, tmp_path / "config", "team-a"))
    asked: list[str] = []

    def kept(found: Object) -> Object:
        asked.append(found["metadata"]["name"])
        return {"spec": found["spec"]}

    assert cluster.list(WORKFLOW, keep=kept).items == [{"spec": {}}, {"spec": {"a": "b"}}]
    assert asked == ["one", "two"]
    names = [one["metadata"]["name"] for one in cluster.list(WORKFLOW, keep=metadata_of).items]
    assert names == ["one", "two"]
    assert "as=PartialObjectMetadataList" in dict(objects.headers)["Accept"]
    assert dict(objects.headers)["Accept-Encoding"] == "gzip"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_request_that_breaks_is_sent_again(
    objects: Objects, url: str, tmp_path: Path, fault: Fault
) -> None:
    port = int(url.rpartition(":")[2])
    with Proxy(partial(http.client.HTTPConnection, "127.0.0.1", port, timeout=60), late=1.3) as proxy:
        cluster = connect(kubeconfig(proxy.url, tmp_path / "config", "team-a"))
        for operation in (
            lambda: cluster.get(WORKFLOW, "one"),
            lambda: cluster.list(WORKFLOW),
            lambda: cluster.patch(WORKFLOW, "one", {"spec": {"suspend": True}}),
            lambda: cluster.delete(WORKFLOW, "one"),
        ):
            proxy.break_at(1, fault)
            operation()
            assert proxy.broken
    assert not objects.known


def test_what_happens_in_a_gap_is_made_up_from_what_is_there(
    objects: Objects, url: str, tmp_path: Path
) -> None:
    cluster = connect(kubeconfig(url, tmp_path / "config", "team-a"))
    objects.put(WORKFLOWS, {"metadata": {"name": "two"}, "spec": {}})
    objects.put(WORKFLOWS, {"metadata": {"name": "three"}, "spec": {}})
    seen: list[tuple[str, str]] = []
    for change in follow(cluster, WORKFLOW):
        if change is not None:
            seen.append((change.type, change.object["metadata"]["name"]))
            if len(seen) == 8:
                break
        elif len(seen) == 3 and not objects.compacted:
            objects.drop(f"{WORKFLOWS}/one")
            objects.put(WORKFLOWS, {"metadata": {"name": "one"}, "spec": {"new": True}})
            objects.drop(f"{WORKFLOWS}/two")
            objects.put(WORKFLOWS, {"metadata": {"name": "three"}, "spec": {"changed": True}})
            objects.put(WORKFLOWS, {"metadata": {"name": "four"}, "spec": {}})
            objects.compact()
    assert sorted(seen[:3]) == [("ADDED", "one"), ("ADDED", "three"), ("ADDED", "two")]
    assert sorted(seen[3:]) == [
        ("ADDED", "four"),
        ("ADDED", "one"),
        ("DELETED", "one"),
        ("DELETED", "two"),
        ("MODIFIED", "three"),
    ]


def test_an_answer_that_is_not_the_apis(tmp_path: Path) -> None:
    from http.server import BaseHTTPRequestHandler

    class Portal(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            code = int(re.findall(r"/c(\d+)", self.path)[0])
            self.send_response(code)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            if code == 302:
                self.send_header("Location", "https://login.example.com/")
            self.end_headers()
            self.wfile.write(b"<html><style>p {}</style><p>please\n <b>log in</b></p></html>")

        def do_POST(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"kind": "Page", "metadata": {}}')

    with Loopback(Portal) as server:
        url = server.url
        cluster = connect(kubeconfig(url, tmp_path / "config"), QUICK)
        with pytest.raises(
            Unreachable, match=rf"of {url} is not what the Kubernetes API gives: please log in$"
        ):
            cluster.get(POD, "c200")
        with pytest.raises(Unreachable, match=r"is not what the Kubernetes API gives: please log in$"):
            list(cluster.log("c200", "main", Excerpt(), run="one"))
        with pytest.raises(Unreachable, match=r"is not what the Kubernetes API gives$"):
            cluster.create(POD, {"metadata": {"name": "one"}})
        for code in (403, 404, 407):
            with pytest.raises(Unreachable, match=rf"the Kubernetes API gives: HTTP {code}: please log in$"):
                cluster.get(POD, f"c{code}")
        with pytest.raises(Refusal, match=r"HTTP 401: please log in; log in to the cluster again$"):
            cluster.get(POD, "c401")
        with pytest.raises(Refusal, match=r"HTTP 413: please log in; it is larger than the API takes"):
            cluster.get(POD, "c413")
        with pytest.raises(Refusal, match=r"HTTP 503: please log in$"):
            cluster.get(POD, "c503")
        with pytest.raises(Refusal, match="sends on to https://login"):
            cluster.get(POD, "c302")


def test_nothing_of_it_is_loaded_before_it_is_needed(tmp_path: Path) -> None:
    file = tmp_path / "tiny.py"
    file.write_text(
        "from flowdsl import pipeline, step\n\n@step(image='a', )\ndef one() -> None: ...\n\n"
        "@pipeline\ndef tiny() -> None:\n    one()\n"
    )
    check = (
        "import sys\nfrom flowdsl.cli.app import run\nrun(sys.argv[1:])\n"
        "print(sorted({'kubernetes', 'urllib3', 'obstore', 'requests', 'aiohttp'} & set(sys.modules)))\n"
    )
    for command in (["--help"], ["compile", str(file)], ["submit", "--help"], ["check", str(file)]):
        done = subprocess.run(
            [sys.executable, "-c", check, *command], capture_output=True, text=True, check=True
        )
        assert done.stdout.endswith("\n[]\n") or done.stdout == "[]\n", json.dumps(done.stdout[-300:])
