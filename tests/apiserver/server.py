"""A real API server for tests: etcd and kube-apiserver on loopback, with one node that serves logs.

with ApiServer() as server:
    server.admin.get("/api/v1/nodes/lab0")

Nothing schedules, runs or collects: there is no controller, so an object changes when a test changes it. Nothing of
it outlives the process that started it, even one that is killed.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self
from urllib.request import Request, urlopen

from tests.apiserver.build import binaries
from tests.apiserver.client import YAML, Client, Object, Refused
from tests.apiserver.kubelet import Kubelet
from tests.apiserver.parts import Broken, Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

Part = Literal["etcd", "apiserver"]

PARTS: tuple[Part, ...] = ("etcd", "apiserver")
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NODE = "lab0"
"""The node of the recordings."""
ACCOUNTS = ("default", "runner")
"""The service account that a controller would make, and that of the recordings."""


class ApiServer:
    """The server, from `start` to `close`, or as a context.

    `users` besides the administrator have no rights until `allow` gives them some. `min_request_timeout` is the
    shortest time in seconds after which the server ends a watch that named no time; the longest is twice that.
    `flags` are further ones of kube-apiserver, `crds` files of definitions to install; the data of a server that has
    them are kept beside the programs, for the next one.
    """

    def __init__(
        self,
        *,
        users: Sequence[str] = ("limited",),
        crds: Sequence[Path] = (),
        min_request_timeout: int = 1800,
        flags: Sequence[str] = (),
    ) -> None:
        self._binaries = binaries()
        self._crds = crds
        self._flags = [f"--min-request-timeout={min_request_timeout}", *flags]
        self._tokens = {user: secrets.token_hex(16) for user in ("admin", *users)}
        self._defined: list[str] = []

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- life ------------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Start both parts, the kubelet and the node. Raises Broken."""
        self.parts = Parts()
        self.folder = self.parts.folder
        self._etcd_port, self._peer_port, self.port = free_ports(3)
        self._etcd_url = f"http://127.0.0.1:{self._etcd_port}"
        self.url = f"https://127.0.0.1:{self.port}"
        self.authority = self.folder / "certificates" / "apiserver.crt"
        try:
            _openssl(
                self.folder, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "accounts.key"
            )
            (self.folder / "tokens.csv").write_text("".join(self._user_lines()))
            self.kubelet = Kubelet(self.folder)
            kept = self._kept()
            if kept is not None and kept.exists():
                shutil.copytree(kept / "etcd", self.folder / "etcd")
                self._defined = json.loads((kept / "defined.json").read_text())
            self._revive_all()
            self.admin = self.client("admin")
            if kept is not None and not self._defined:
                self.install(self._crds)
                self._keep(kept)
            self._add_node()
            self.namespace("default")
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """Kill all parts, and remove what they wrote."""
        if hasattr(self, "kubelet"):
            self.kubelet.close()
        self.parts.close()

    def _kept(self) -> Path | None:
        """Where the data of a new server with these definitions are kept: to install them takes ten seconds."""
        if not self._crds:
            return None
        state = hashlib.sha256(b"\0".join(crd.read_bytes() for crd in self._crds))
        return self._binaries.etcd.parent / f"data-{state.hexdigest()[:16]}"

    def _keep(self, kept: Path) -> None:
        for part in reversed(PARTS):
            self.kill(part)
        with tempfile.TemporaryDirectory(dir=kept.parent) as fresh:
            made = Path(fresh) / "made"
            shutil.copytree(self.folder / "etcd", made / "etcd")
            (made / "defined.json").write_text(json.dumps(self._defined))
            with contextlib.suppress(OSError):  # another process may have been faster
                made.rename(kept)
        self._revive_all()

    def _user_lines(self) -> list[str]:
        return [
            f"{token},{user},{user}" + (',"system:masters"\n' if user == "admin" else "\n")
            for user, token in self._tokens.items()
        ]

    def _command(self, part: Part) -> list[str]:
        folder, local = self.folder, "127.0.0.1"
        if part == "etcd":
            peer = f"http://{local}:{self._peer_port}"
            return [
                str(self._binaries.etcd),
                f"--data-dir={folder / 'etcd'}",
                f"--listen-client-urls={self._etcd_url}",
                f"--advertise-client-urls={self._etcd_url}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=default={peer}",
                "--unsafe-no-fsync",
                "--log-level=warn",
            ]
        return [
            *("env", "GOGC=200"),  # it looks for garbage half as often: a seventh of its start is that
            str(self._binaries.apiserver),
            f"--etcd-servers={self._etcd_url}",
            f"--bind-address={local}",
            f"--advertise-address={local}",
            f"--secure-port={self.port}",
            f"--cert-dir={folder / 'certificates'}",
            f"--token-auth-file={folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.96.0.0/24",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={folder / 'accounts.key'}",
            f"--service-account-signing-key-file={folder / 'accounts.key'}",
            "--endpoint-reconciler-type=none",
            f"--kubelet-certificate-authority={self.kubelet.certificate}",
            "--kubelet-preferred-address-types=InternalIP",
            "--profiling=false",
            *self._flags,
        ]

    def kill(self, part: Part) -> None:
        """End a part as `kill -9` does, and wait until it is gone."""
        self.parts.kill(part)

    @contextlib.contextmanager
    def paused(self, part: Part) -> Generator[None, None, None]:
        """Stop a part where it is, for a while: its connections stay, and nothing answers."""
        self.parts.send(part, signal.SIGSTOP)
        try:
            yield
        finally:
            self.parts.send(part, signal.SIGCONT)

    def revive(self, part: Part, *, wait: bool = True) -> None:
        """Start a part that was killed, with the same data, port and certificate."""
        self.parts.start(part, self._command(part))
        if wait:
            self.wait()

    def _revive_all(self) -> None:
        for part in PARTS:
            self.revive(part, wait=False)
        self.wait()

    def restart(self, part: Part) -> None:
        """Kill a part and start it again, until the server is ready."""
        self.kill(part)
        self.revive(part)

    def wait(self, seconds: float = 120) -> None:
        """Wait until the server is ready and serves what is defined in it. Raises Broken."""
        left = ["/readyz", *self._defined]

        def ready() -> bool:
            self.parts.check()
            try:
                if not self._serves(left[0]):
                    return False
            except (OSError, http.client.HTTPException):
                return False
            except Refused as answer:
                if answer.code not in {403, 404, 429, 500, 503}:
                    raise
                return False
            left.pop(0)
            return not left

        if not until(ready, seconds):
            raise Broken(f"no {left[0]} after {seconds} s:\n{self.parts.log('apiserver')[-3000:]}")

    def _serves(self, path: str) -> bool:
        client = self.client()
        if path == "/readyz":
            return client.raw(path) == b"ok"
        client.raw(path, {"limit": 1})
        version, _, plural = path.rpartition("/")
        return any(each["name"] == plural for each in client.get(version)["resources"])

    # --- users -----------------------------------------------------------------------------------------

    def client(self, user: str = "admin", seconds: float = 30) -> Client:
        """A user's access. Raises OSError before the server has its certificate."""
        return Client(self.url, self.authority, self._tokens[user], seconds)

    def kubeconfig(self, user: str = "admin", namespace: str = "default") -> Path:
        """A file that tools read as `$KUBECONFIG`; JSON, which is YAML too."""
        path = self.folder / f"{user}-{namespace}.kubeconfig"
        cluster = {"server": self.url, "certificate-authority": str(self.authority)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": self._tokens[user]}}],
            "contexts": [
                {"name": "test", "context": {"cluster": "test", "user": user, "namespace": namespace}}
            ],
            "current-context": "test",
        }
        path.touch(mode=0o600)
        path.write_text(json.dumps(config, indent=2) + "\n")
        return path

    def allow(self, user: str, namespace: str, rules: Sequence[Object]) -> None:
        """Give a user the rules of a new role in a namespace, and wait until the server knows of it."""
        group = "rbac.authorization.k8s.io"
        path = f"/apis/{group}/v1/namespaces/{namespace}"
        name = f"{user}-{secrets.token_hex(4)}"
        self.admin.create(f"{path}/roles", {"metadata": {"name": name}, "rules": list(rules)})
        binding = {
            "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
        }
        self.admin.create(f"{path}/rolebindings", binding)
        last = rules[-1]
        resource, _, part = last["resources"][-1].partition("/")
        attributes = {
            "namespace": namespace,
            "verb": last["verbs"][-1],
            "group": last["apiGroups"][-1],
            "resource": resource,
            "subresource": part,
        }
        if not until(lambda: self.allowed(user, attributes), 10):
            raise Broken(f"{user} has no right to {attributes}")

    def allowed(self, user: str, attributes: Object) -> bool:
        """Whether a user may do something, in the words of `resourceAttributes` of an access review."""
        review: Object = {"spec": {"user": user, "resourceAttributes": attributes}}
        done = self.admin.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        return bool(done["status"]["allowed"])

    # --- what a cluster has ----------------------------------------------------------------------------

    def install(self, crds: Sequence[Path]) -> None:
        """Create what files of one definition each define, and wait until the server serves it."""
        for crd in crds:
            spec = self.admin.create(DEFINITIONS, crd.read_bytes(), YAML)["spec"]
            self._defined.append(
                f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
            )
        self.wait()

    def namespace(self, name: str) -> str:
        """Make a namespace, unless it is `default`, with its accounts."""
        if name != "default":
            self.admin.create("/api/v1/namespaces", {"metadata": {"name": name}})
        path = f"/api/v1/namespaces/{name}/serviceaccounts"

        def made(account: str) -> bool:
            try:
                self.admin.create(path, {"metadata": {"name": account}})
            except Refused as answer:
                if answer.code != 404:
                    raise
                return False
            return True

        for account in ACCOUNTS:
            if not until(partial(made, account), 10):
                raise Broken(f"there is no namespace {name}")
        return name

    def _add_node(self) -> None:
        self.admin.create("/api/v1/nodes", {"metadata": {"name": NODE}})
        status = {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self.kubelet.port}},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        }
        self.admin.patch(f"/api/v1/nodes/{NODE}/status", {"status": status})

    # --- etcd ------------------------------------------------------------------------------------------

    def _etcd(self, path: str, body: Object) -> Object:
        request = Request(
            f"{self._etcd_url}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urlopen(request, timeout=30) as response:
            found: Object = json.load(response)
        return found

    def revision(self) -> int:
        """The revision of etcd, which is the newest resourceVersion."""
        return int(self._etcd("/v3/kv/range", {"key": "AA==", "limit": 1})["header"]["revision"])

    def compact(self) -> int:
        """Forget all older revisions in etcd; the revision that is left. The server may still have some in memory."""
        revision = self.revision()
        self._etcd("/v3/kv/compaction", {"revision": revision, "physical": True})
        return revision


def until(done: Callable[[], bool], seconds: float) -> bool:
    """Ask until the answer is yes; whether it was in time."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def free_ports(count: int) -> list[int]:
    """Ports at which nothing listens, below those that the kernel gives to connections.

    One of these would be taken by some connection now and then, before the server listens at it or is revived.
    """
    found: set[int] = set()
    while len(found) < count:
        port = 20_000 + secrets.randbelow(10_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            found.add(port)
    return [*found]


def _openssl(folder: Path, *arguments: str) -> None:
    try:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
    except FileNotFoundError as error:
        raise Broken("the command openssl is needed") from error
