"""Reads files on a PersistentVolumeClaim of a cluster, by a short-lived pod that mounts it.

The pod serves ranges of files over HTTP, by the API server's proxy of pods. So bytes arrive unchanged, a broken
download resumes where it ended, and no data gets into the logs of the cluster, as it would if the pod printed it (and
the kubelet would lose lines of a large file, because it rotates logs at 10 MiB).

The port is 10250: the control planes of managed clusters whose nodes are behind a firewall may connect to it.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from flowdsl.runtime.artifacts.sources import Entry
from flowdsl.runtime.artifacts.trouble import Broken, Changed, Missing, StoreError
from flowdsl.runtime.cluster.kinds import POD, WORKFLOW
from flowdsl.runtime.cluster.kubernetes import SUBMIT_ID
from flowdsl.runtime.cluster.trouble import FORBIDDEN, NOT_FOUND, ClusterError, Refusal, Unreachable
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.phases import POD_ENDED, RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flowdsl.runtime.artifacts.pieces import Location
    from flowdsl.runtime.cluster.seam import Cluster

Json = dict[str, Any]

PORT = 10250
IMAGE = "python:3.12-slim"
MOUNTED = "/claim"
_MOST, _LEAST = 4 << 20, 64 << 10
"""The most and least bytes of one response: less for slow connections."""
_LONGEST = 3600
"""Seconds after which the cluster ends the pod, even if its client has crashed."""
_IDLE = 120
"""Seconds without a request after which it exits."""
PENDING = 300.0
"""Seconds that the pod may take until it responds."""
POLL = 1.0
"""Seconds between two polls of it."""
_BAD = (
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
)

PROGRAM = """\
import http.server, json, os, stat, sys, threading, time, urllib.parse

ROOT, TOKEN, PORT, IDLE = sys.argv[1], os.environ["TOKEN"], int(sys.argv[2]), int(sys.argv[3])
last = [time.monotonic()]


def tag(found):
    return "%x-%x-%x" % (found.st_mtime_ns, found.st_size, found.st_ino)


def inside(key):
    path = os.path.join(ROOT, key)
    root = os.path.realpath(ROOT)
    if os.path.commonpath([root, os.path.realpath(path)]) != root:
        raise FileNotFoundError(key)
    return path


def listed(top, above):
    for one in sorted(os.scandir(top), key=lambda one: one.name):
        path = above + one.name
        if one.is_symlink():
            yield [path, 0, "", os.readlink(one.path)]
        elif one.is_dir():
            yield from listed(one.path, path + "/")
        else:
            found = one.stat(follow_symlinks=False)
            regular = stat.S_ISREG(found.st_mode)
            yield [path, found.st_size, tag(found) if regular else "", "" if regular else "/dev/null"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        last[0] = time.monotonic()
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query, errors="surrogateescape"))
        if parts.path.strip("/") != TOKEN:
            return self.answer(403, b"")
        try:
            path = inside(query["key"])
            if query["what"] == "list":
                found = os.stat(path)
                top = stat.S_ISDIR(found.st_mode)
                rows = list(listed(path, "")) if top else [["", found.st_size, tag(found), ""]]
                return self.answer(200, json.dumps(rows).encode())
            with open(path, "rb") as file:
                if tag(os.fstat(file.fileno())) != query["tag"]:
                    return self.answer(412, b"")
                file.seek(int(query["offset"]))
                return self.answer(200, file.read(int(query["length"])))
        except (FileNotFoundError, NotADirectoryError):
            self.answer(410, b"")
        except OSError as error:
            self.answer(409, str(error).encode())

    def answer(self, code, body):
        self.send_response(code)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *parts):
        pass


server = http.server.ThreadingHTTPServer(("", PORT), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
while time.monotonic() - last[0] < IDLE:
    time.sleep(1)
"""


class Readers:
    """The pods that read the claims of a run; they are deleted with it, and by `close`."""

    def __init__(
        self,
        cluster: Cluster,
        workflow: Json,
        image: str | None = None,
        waits: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._cluster, self._workflow, self._image, self._waits = cluster, workflow, image, waits
        self._namespace = str(workflow["metadata"].get("namespace") or cluster.namespace)
        self._lock = threading.Lock()
        self._pods: dict[str, Reader] = {}
        self._failed: dict[str, StoreError] = {}
        self._closed = False

    def source(self, claim: str, place: Location) -> Claimed:
        """A path on a claim; its pod is created on first use. Raises StoreError."""
        with self._lock:
            if self._closed:
                raise StoreError(f"claim {claim} is no longer read", place.store)
            if claim in self._failed:
                raise self._failed[claim]
            if claim not in self._pods:
                image = self._image or str(place.fields.get("image") or "") or IMAGE
                made = Reader(self._cluster, self._namespace, claim)
                self._pods[claim] = made
                try:
                    self._waits(f"starts pod `{made.name}` to read claim `{claim}`")
                    made.start(self._workflow, image)
                except ClusterError as error:
                    text = f"claim {claim} cannot be read by a pod: {error}; or mount it here: --mount {claim}=PATH"
                    self._failed[claim] = StoreError(text, place.store)
                    raise self._failed[claim] from None
                except StoreError as error:
                    self._failed[claim] = StoreError(str(error), place.store)
                    raise self._failed[claim] from None
            return Claimed(self._pods[claim], place)

    def close(self) -> list[str]:
        """Delete the pods; returns messages about those that could not be deleted."""
        self._closed = True
        left: list[str] = []
        for one in list(self._pods.values()):
            try:
                one.delete()
            except ClusterError as error:
                left.append(f"pod `{one.name}` is left, and ends on its own: {error}")
        return left


class Reader:
    """One pod."""

    def __init__(self, cluster: Cluster, namespace: str, claim: str) -> None:
        self.cluster, self.namespace, self.claim = cluster, namespace, claim
        self.name = f"flowdsl-fetch-{secrets.token_hex(5)}"
        self.token = secrets.token_urlsafe(24)
        self._created = False

    def start(self, workflow: Json, image: str) -> None:
        """Create it, and wait until it responds. Raises ClusterError, StoreError."""
        self._created = True  # it may be, even if the response is lost
        self.cluster.create(POD, self.body(workflow, image))
        end = time.monotonic() + PENDING
        why = ""
        while time.monotonic() < end:
            found = self.cluster.get(POD, self.name, namespace=self.namespace)
            status = part(found, "status")
            phase = status.get("phase")
            if phase in POD_ENDED:
                raise StoreError(
                    f"pod `{self.name}` that reads claim {self.claim} ended: {_why(status) or phase}"
                )
            why = _why(status)
            if any(why.startswith(one) for one in _BAD):
                raise StoreError(
                    f"pod `{self.name}` that reads claim {self.claim} cannot start: {why};"
                    " name an image with Python: --image"
                )
            if phase == RUNNING and _ready(status):
                return
            time.sleep(POLL)
        raise StoreError(
            f"pod `{self.name}` that reads claim {self.claim} did not start within {PENDING:g} s"
            + (f": {why}" if why else "")
            + f"; or mount it here: --mount {self.claim}=PATH"
        )

    def delete(self) -> None:
        """Delete it. Raises ClusterError."""
        if self._created:
            self.cluster.delete(POD, self.name, namespace=self.namespace)

    def body(self, workflow: Json, image: str) -> Json:
        """The pod: read-only, without a service account token, and owned by the workflow."""
        metadata = workflow["metadata"]
        owners = [
            {
                "apiVersion": str(workflow.get("apiVersion") or WORKFLOW.api_version),
                "kind": WORKFLOW.name,
                "name": str(metadata["name"]),
                "uid": str(metadata.get("uid")),
            }
        ]
        probe = {"tcpSocket": {"port": PORT}, "periodSeconds": 1}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": self.name,
                "namespace": self.namespace,
                "labels": {
                    "app.kubernetes.io/managed-by": "flowdsl",
                    "flowdsl.dev/fetch": str(metadata["name"])[:63].rstrip("-."),
                },
                "annotations": {SUBMIT_ID: secrets.token_hex(8)},
                **({"ownerReferences": owners} if metadata.get("uid") else {}),
            },
            "spec": {
                "restartPolicy": "Never",
                "activeDeadlineSeconds": _LONGEST,
                "terminationGracePeriodSeconds": 0,
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "containers": [
                    {
                        "name": "read",
                        "image": image,
                        "command": ["python3", "-u", "-c", PROGRAM, MOUNTED, str(PORT), str(_IDLE)],
                        "env": [{"name": "TOKEN", "value": self.token}],
                        "ports": [{"containerPort": PORT}],
                        "readinessProbe": probe,
                        "resources": {
                            "requests": {"cpu": "50m", "memory": "64Mi"},
                            "limits": {"cpu": "1", "memory": "256Mi"},
                        },
                        "securityContext": {
                            "allowPrivilegeEscalation": False,
                            "readOnlyRootFilesystem": True,
                            "capabilities": {"drop": ["ALL"]},
                        },
                        "volumeMounts": [{"name": "claim", "mountPath": MOUNTED, "readOnly": True}],
                    }
                ],
                "volumes": [{"name": "claim", "persistentVolumeClaim": {"claimName": self.claim}}],
            },
        }

    def ask(self, **query: str) -> bytes:
        """Its response. Raises ClusterError."""
        path = f"{self.token}?{urlencode(query, quote_via=quote, errors='surrogateescape')}"
        return self.cluster.proxy(self.name, PORT, path, namespace=self.namespace)


class Claimed:
    """A file or folder on a claim."""

    digests = False

    def __init__(self, reader: Reader, place: Location) -> None:
        self._reader, self._place = reader, place

    def entries(self) -> list[Entry]:
        """The files, and symbolic links; what is neither is listed as a link that leads out."""
        rows: list[tuple[str, int, str, str]] = json.loads(self._asked(what="list", key=self._place.key))
        return sorted(Entry(str(path), int(size), str(tag), str(link)) for path, size, tag, link in rows)

    def read(self, entry: Entry, offset: int) -> Iterator[bytes]:
        """Its bytes, in chunks that arrive in time."""
        key = f"{self._place.key}/{entry.path}" if entry.path else self._place.key
        length = _MOST
        while offset < entry.size:
            try:
                data = self._asked(
                    what="read", key=key, tag=entry.tag, offset=str(offset), length=str(length)
                )
            except Broken:
                if length <= _LEAST:
                    raise
                length //= 2
                continue
            if not data:
                raise Changed(f"{self._place.said} has become shorter")
            offset += len(data)
            yield data

    def _asked(self, **query: str) -> bytes:
        try:
            return self._reader.ask(**query)
        except Unreachable as error:
            raise Broken(f"{self._place.said} cannot be read: {error}") from None
        except Refusal as refusal:
            if refusal.code == 410:
                raise Missing(f"there is no {self._place.said}") from None
            if refusal.code == 412:
                raise Changed(f"{self._place.said} has changed while it was read") from None
            kind = Broken if refusal.code >= 500 else StoreError
            more = refusal.message
            if refusal.code == NOT_FOUND:
                more = f"pod `{self._reader.name}` is gone"
            elif refusal.code == FORBIDDEN:
                more = (
                    f"it needs the right to get pods/proxy in namespace `{self._reader.namespace}`: {more};"
                    f" or mount it here: --mount {self._reader.claim}=PATH"
                )
            raise kind(f"{self._place.said} cannot be read: {more}", self._place.store) from None
        except ClusterError as error:
            raise StoreError(f"{self._place.said} cannot be read: {error}", self._place.store) from None


def _ready(status: Json) -> bool:
    return any(
        one.get("type") == "Ready" and one.get("status") == "True" for one in several(status, "conditions")
    )


def _why(status: Json) -> str:
    """Why a pod does not run: the reason of its container, or of the scheduler."""
    for one in several(status, "containerStatuses"):
        state = part(one, "state")
        for kind in ("waiting", "terminated"):
            found = part(state, kind)
            if found.get("reason"):
                return ": ".join(str(found[name]) for name in ("reason", "message") if found.get(name))
    if status.get("message"):
        return str(status["message"])
    for one in several(status, "conditions"):
        if one.get("status") == "False" and one.get("message"):
            return str(one["message"])
    return ""
