"""What a kubelet does for pods: each container is a process with the files of this machine, and a layer of its own.

Images are not used. That needs root, and overlays of file systems. Addresses are those of this machine, for all pods.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.runtime.local.pods.expansion import expanded
from tests.apiserver.client import PODS, Refused
from tests.apiserver.server import NODE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.apiserver.client import Client

Json = dict[str, Any]

HERE = "127.0.0.1"
ACCOUNT = "run/secrets/kubernetes.io/serviceaccount"
OFTEN = 0.02
UNANSWERED = (OSError, HTTPException)
TOO_LATE = "Pod was active on the node longer than the specified deadline"
#: Goes into the container's files, and becomes its command.
ENTER = """
import json, os, sys, warnings
words, env, root, folder, user, group = json.load(open(sys.argv[1]))
os.chroot(root)
os.chdir(folder)
if user:
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)
try:
    os.execvpe(words[0], words, env)
except OSError as error:
    sys.exit(f"{words[0]}: {error}")
"""


class Node:
    """The one node: pods of a namespace begin, end when they are deleted or late, and tell how they are.

    `folder` lies on a file system of its own. `beside` is laid over this machine's files in all containers; claims are
    folders of `claims`. `environment` and `account` are what every container gets: variables, and the files of its
    service account.
    """

    def __init__(
        self,
        admin: Client,
        namespace: str,
        folder: Path,
        environment: Mapping[str, str],
        account: Mapping[str, str],
    ) -> None:
        self.admin = admin
        self.namespace = namespace
        self.folder = folder
        self.environment = environment
        self.account = account
        self.beside = folder / "beside"
        self.claims = folder / "claims"
        self.claims.mkdir()
        (folder / "pods").mkdir()
        self.pods: dict[str, Pod] = {}
        self.closed = False
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def start(self) -> None:
        """Look after pods from now on."""
        self._thread.start()

    def close(self) -> None:
        """End everything."""
        self.closed = True
        self._thread.join()
        for pod in self.pods.values():
            pod.end(0, "")

    def path(self, pod: str = "", more: str = "") -> str:
        """The path of pods, or of one, at the API server."""
        return PODS.format(self.namespace) + (f"/{pod}" if pod else "") + more

    def _follow(self) -> None:
        while not self.closed:
            time.sleep(OFTEN)
            with contextlib.suppress(*UNANSWERED):  # it is looked at again
                for found in self.admin.get(self.path())["items"]:
                    with contextlib.suppress(Refused):  # it is gone, or has changed
                        self._look(found)

    def _look(self, found: Json) -> None:
        metadata: Json = found["metadata"]
        name, uid = str(metadata["name"]), str(metadata["uid"])
        pod = self.pods.get(uid)
        deleted = "deletionTimestamp" in metadata
        if pod is None and "nodeName" not in found["spec"]:
            target = {"metadata": {"name": name}, "target": {"kind": "Node", "name": NODE}}
            self.admin.create(self.path(name, "/binding"), target)
        elif pod is None and not deleted and found["status"].get("phase") == "Pending":
            self.pods[uid] = Pod(self, found)
        elif pod is not None and deleted:
            if pod.over:
                self.admin.delete(self.path(name), {"gracePeriodSeconds": 0})
            else:
                pod.end(float(metadata.get("deletionGracePeriodSeconds", 30)), "")

    def object(self, kind: str, name: str) -> dict[str, bytes]:
        """The data of a ConfigMap or Secret."""
        found = self.admin.get(f"/api/v1/namespaces/{self.namespace}/{kind}/{name}").get("data", {})
        if kind == "secrets":
            return {key: base64.b64decode(text) for key, text in found.items()}
        return {key: str(text).encode() for key, text in found.items()}


class Pod:
    """A pod at work; each container of it is a process in namespaces of its own."""

    def __init__(self, node: Node, found: Json) -> None:
        self.node = node
        self.found = found
        self.spec: Json = found["spec"]
        self.name = str(found["metadata"]["name"])
        self.folder = node.folder / "pods" / self.name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.began = time.monotonic()
        self.states: dict[str, Json] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.killed_at: float | None = None
        self.reason = ""
        self.over = False
        threading.Thread(target=self._run, daemon=True).start()

    def end(self, grace: float, reason: str) -> None:
        """Send TERM to all containers, and KILL after a time in seconds."""
        if self.killed_at is None:
            self.killed_at, self.reason = time.monotonic() + grace, reason
            self._signal(signal.SIGTERM)

    def _signal(self, number: int) -> None:
        for name in list(self.running):
            with contextlib.suppress(OSError, ValueError):  # it has ended, or not begun
                os.kill(int((self.folder / f"{name}.pid").read_text()), number)

    def _run(self) -> None:
        for container in self.spec.get("initContainers", []):
            self._begin(container)
            self._tell("Pending")
            self._await()
        failed = any(_code(state) for state in self.states.values())
        if not failed and self.killed_at is None:
            for container in self.spec["containers"]:
                self._begin(container)
            self._tell("Running")
            self._await()
            failed = any(_code(state) for state in self.states.values())
        late: Json = {"reason": self.reason, "message": TOO_LATE} if self.reason else {}
        self._tell("Failed" if failed or self.killed_at is not None else "Succeeded", **late)
        for kind in ("files", "volumes"):
            shutil.rmtree(self.folder / kind, ignore_errors=True)
        self.over = True

    def _await(self) -> None:
        """Wait until what runs has ended."""
        late = self.spec.get("activeDeadlineSeconds")
        while self.running:
            time.sleep(OFTEN)
            if late is not None and time.monotonic() - self.began > late:
                self.end(float(self.spec.get("terminationGracePeriodSeconds", 30)), "DeadlineExceeded")
            if self.killed_at is not None and time.monotonic() > self.killed_at:
                self._signal(signal.SIGKILL)
            ended = [name for name, process in self.running.items() if process.poll() is not None]
            for name in ended:
                self._ended(name, self.running.pop(name).returncode)
            if ended and self.running:
                self._tell("Running")

    def _ended(self, name: str, code: int) -> None:
        code = 128 - code if code < 0 else code
        said = (self.folder / "files" / name / "message").read_text(errors="replace")[:4096]
        began = self.states[name]["running"]["startedAt"]
        found: Json = {
            "exitCode": code,
            "startedAt": began,
            "finishedAt": _now(),
            "containerID": f"test://{name}",
        }
        found["reason"] = "Error" if code else "Completed"
        self.states[name] = {"terminated": {**found, "message": said} if said else found}

    def _tell(self, phase: str, **more: str) -> None:
        def states(kind: str) -> list[Json]:
            waits: Json = {"waiting": {"reason": "PodInitializing"}}
            return [
                {
                    **{key: each[key] for key in ("name", "image")},
                    "imageID": "",
                    "restartCount": 0,
                    "ready": each["name"] in self.running,
                    "state": self.states.get(each["name"], waits),
                }
                for each in self.spec.get(kind, [])
            ]

        status = {
            "phase": phase,
            "podIP": HERE,
            "hostIP": HERE,
            "podIPs": [{"ip": HERE}],
            "startTime": _now(),
            **more,
        }
        status |= {
            "initContainerStatuses": states("initContainers"),
            "containerStatuses": states("containers"),
        }
        path = self.node.path(self.name, "/status")
        while not self.node.closed:
            with contextlib.suppress(*UNANSWERED):
                with contextlib.suppress(Refused):  # it is gone
                    self.node.admin.patch(path, {"status": status})
                return
            time.sleep(OFTEN)

    # --- containers ------------------------------------------------------------------------------------

    def _begin(self, container: Json) -> None:
        """Start a container: its files are those of the machine, with what it writes in a layer of its own."""
        name = str(container["name"])
        own = self.folder / "files" / name
        for part in ("upper", "work", "root"):
            (own / part).mkdir(parents=True)
        for file, text in self.node.account.items():
            path = own / "upper" / ACCOUNT / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (own / "message").touch()
        (own / "message").chmod(0o666)
        root = f"{own}/root"
        layers = f"lowerdir={self.node.beside}:/,upperdir={own}/upper,workdir={own}/work"
        lines = [
            "set -e",
            f"mount -t overlay overlay -o {layers} {root}",
            f"mount -t proc proc {root}/proc",
            f"mount -t tmpfs tmpfs {root}/tmp",
            f"mount -t tmpfs tmpfs {root}/dev",
            f"for d in null zero random urandom; do touch {root}/dev/$d; mount --bind /dev/$d {root}/dev/$d; done",
            f"for n in 0 1 2; do ln -s /proc/self/fd/$n {root}/dev/fd$n; done; ln -s /proc/self/fd {root}/dev/fd",
            f"touch {root}/dev/termination-log; mount --bind {own}/message {root}/dev/termination-log",
        ]
        env = self._variables(container)
        for mount in container.get("volumeMounts", []):
            lines += self._mounted(mount, root, env)
        folder = container.get("workingDir") or "/"
        words = [expanded(word, env) for word in [*container.get("command", []), *container.get("args", [])]]
        security = {**self.spec.get("securityContext", {}), **container.get("securityContext", {})}
        user = security.get("runAsUser", 0), security.get("runAsGroup", 0)
        of_image = {"PATH": os.environ["PATH"], "HOME": "/" if user[0] else "/root"}
        (own / "container.json").write_text(json.dumps([words, {**of_image, **env}, root, folder, *user]))
        lines += [
            f"mkdir -p '{root}{folder}'",
            f"exec {sys.executable} -c '{ENTER}' {own}/container.json",
        ]
        (own / "begin").write_text("\n".join(lines))
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", str(own / "begin")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.states[name] = {"running": {"startedAt": _now()}}
        self.running[name] = process
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        with contextlib.suppress(OSError):  # it has ended
            while process.poll() is None:
                if found := children.read_text().split():
                    (self.folder / f"{name}.pid").write_text(found[0])
                    break
                time.sleep(OFTEN / 10)

    def _mounted(self, mount: Json, root: str, env: dict[str, str]) -> list[str]:
        """The lines that mount a volume."""
        path = str(mount["mountPath"]).rstrip("/")
        path = path.removeprefix("/var") if path.startswith("/var/run/") else path  # a link of the machine
        if path == f"/{ACCOUNT}":
            return []
        source = self._volume(str(mount["name"]))
        inside = mount.get("subPath") or expanded(mount.get("subPathExpr", ""), env)
        source /= inside
        if not source.exists():
            source.mkdir(parents=True)
            source.chmod(self._volume(str(mount["name"])).stat().st_mode)
        target = f"{root}{path}"
        made = (
            f"[ -d '{target}' ] || rm -f '{target}'; mkdir -p '{target}'"  # the machine may have a file there
        )
        if source.is_file():
            made = f"mkdir -p '{Path(target).parent}'; touch '{target}'"
        found = [made, f"mount --bind '{source}' '{target}'"]
        return [*found, f"mount -o remount,bind,ro '{target}'"] if mount.get("readOnly") else found

    def _volume(self, name: str) -> Path:
        """The folder of a volume; a kind that is not known here is an empty one."""
        volume: Json = next(one for one in self.spec["volumes"] if one["name"] == name)
        if "persistentVolumeClaim" in volume:
            place = self.node.claims / str(volume["persistentVolumeClaim"]["claimName"])
            place.mkdir(exist_ok=True)
            return place
        if "hostPath" in volume:
            return Path(volume["hostPath"]["path"])
        place = self.folder / "volumes" / name
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(0o777)
        for kind, field, key in (("configmaps", "configMap", "name"), ("secrets", "secret", "secretName")):
            if field not in volume:
                continue
            data = self.node.object(kind, volume[field][key])
            items = volume[field].get("items") or [{"key": one, "path": one} for one in data]
            for item in items:
                (place / item["path"]).parent.mkdir(parents=True, exist_ok=True)
                (place / item["path"]).write_bytes(data[item["key"]])
        return place

    def _variables(self, container: Json) -> dict[str, str]:
        """The environment of a container, without what an image sets: that stands for no `$(NAME)`."""
        metadata: Json = self.found["metadata"]
        fields = {f"metadata.{key}": str(metadata[key]) for key in ("name", "namespace", "uid")}
        fields |= {"status.podIP": HERE, "status.hostIP": HERE, "spec.nodeName": NODE}
        for kind in ("labels", "annotations"):
            fields |= {f"metadata.{kind}['{key}']": text for key, text in metadata.get(kind, {}).items()}
        found = dict(self.node.environment)
        for one in container.get("env", []):
            source: Json = one.get("valueFrom") or {}
            for kind, field in (("secrets", "secretKeyRef"), ("configmaps", "configMapKeyRef")):
                if field in source:
                    found[one["name"]] = self.node.object(kind, source[field]["name"])[
                        source[field]["key"]
                    ].decode()
            if "fieldRef" in source:
                found[one["name"]] = fields.get(source["fieldRef"]["fieldPath"], "")
            elif not source:
                found[one["name"]] = expanded(one.get("value", ""), found)
        return found


def _code(state: Json) -> int:
    return int(state["terminated"]["exitCode"]) if "terminated" in state else 0


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
