"""Runs as the API server has them, and a cluster that knows one, for tests without a cluster."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from flowdsl.cli.clusters.reach import Reach
from flowdsl.runtime.cluster.kinds import POD, SECRET, WORKFLOW
from flowdsl.runtime.cluster.policy import Policy
from flowdsl.runtime.cluster.seam import Cluster, Kind
from flowdsl.runtime.cluster.trouble import Refusal

Json = dict[str, Any]
RUN = "demo"


def stored(name: str, key: str, **more: object) -> Json:
    """An artifact in the repository of the run."""
    return {"name": name, "s3": {"key": key}, **more}


def plain(name: str, key: str) -> Json:
    """One that is not packed."""
    return stored(name, key, archive={"none": {}})


def workflow(endpoint: str, steps: dict[str, Json], **more: Json) -> Json:
    """A run of a graph, by the outputs of its steps; `train(3)` is a round of a loop."""
    nodes: Json = {RUN: {"id": RUN, "name": RUN, "displayName": RUN, "type": "DAG", "phase": "Succeeded"}}
    for number, (name, outputs) in enumerate(steps.items()):
        shown = name.removesuffix(")") + ":i:0)" if "(" in name else name
        nodes[f"{RUN}-{number}"] = {
            "id": f"{RUN}-{number}",
            "name": f"{RUN}.{shown}",
            "displayName": shown,
            "type": "Pod",
            "phase": "Succeeded",
            "boundaryID": RUN,
            "templateName": name.partition("(")[0],
            "outputs": outputs,
        }
    repository = {
        "s3": {
            "bucket": "argo",
            "endpoint": endpoint,
            "insecure": True,
            "accessKeySecret": {"name": "s3cred", "key": "accessKey"},
            "secretKeySecret": {"name": "s3cred", "key": "secretKey"},
        }
    }
    status = {
        "phase": "Succeeded",
        "nodes": nodes,
        "artifactRepositoryRef": {"artifactRepository": repository, "default": True},
        **more,
    }
    metadata = {
        "name": RUN,
        "namespace": "default",
        "uid": "u-1",
        "creationTimestamp": "2026-11-21T12:00:00Z",
    }
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": metadata,
        "spec": {},
        "status": status,
    }


class Known:
    """A cluster with one run and the secret of its store; pods that are created run at once."""

    called = "cluster `test`"
    namespace = "default"
    policy = Policy()

    def __init__(self, run: Json, *, refused: bool = False) -> None:
        self.run, self.refused = run, refused
        self.warnings: list[str] = []
        self.store = ""
        """The address of the store, for the keys of Google."""
        self.pods: dict[str, Json] = {}
        self.created: list[Json] = []
        self.deleted: list[str] = []
        self.answer: Callable[[Json, str], bytes] | None = None
        """What pods answer at a path."""
        self.status: Json = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}

    def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json:
        if kind == WORKFLOW and name == self.run["metadata"]["name"]:
            return self.run
        if kind == SECRET and name == "s3cred" and not self.refused:
            account = {"gcs_base_url": f"http://{self.store}", "disable_oauth": True}
            more = {"client_email": "", "private_key": "", "private_key_id": ""}
            keys = {"accessKey": "access", "secretKey": "secret", "gcs": json.dumps({**account, **more})}
            keys["azure"] = base64.b64encode(b"azure").decode()
            return {"data": {key: base64.b64encode(one.encode()).decode() for key, one in keys.items()}}
        if kind == POD and name in self.pods:
            return {**self.pods[name], "status": self.status}
        code, message = (403, 'secrets "s3cred" is forbidden') if self.refused else (404, "not found")
        raise Refusal(code, {"message": message, "details": {"name": name}}, "get", kind, name, "default")

    def create(self, kind: Kind, body: Json, *, dry_run: bool = False) -> Json:
        assert kind == POD
        assert not dry_run
        self.created.append(json.loads(json.dumps(body)))
        self.pods[body["metadata"]["name"]] = self.created[-1]
        return body

    def delete(self, kind: Kind, name: str, *, uid: str = "", namespace: str | None = None) -> None:
        assert kind == POD
        del self.pods[name]
        self.deleted.append(name)

    def proxy(self, pod: str, port: int, path: str, *, namespace: str | None = None) -> bytes:
        assert self.answer is not None
        return self.answer(self.pods[pod], path)


def reached(cluster: Known) -> None:
    """Have all commands of this process talk to a cluster."""
    Reach.connect = lambda self: cast("Cluster", cluster)  # type: ignore[method-assign]


def command(arguments: Sequence[str]) -> int:
    from flowdsl.cli.app import run

    return run(["fetch", RUN, "--cluster", "test", *arguments])


def told(folder: Path) -> Json:
    """What run.json says."""
    found: Json = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return found


def there(folder: Path) -> dict[str, bytes]:
    """The files that are complete, by their paths."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".flowdsl" not in path.parts and path.name != "run.json"
    }


__all__ = ["RUN", "Known", "command", "plain", "reached", "stored", "there", "told", "workflow"]
