"""A cluster with Argo in it: a real API server, Argo's controller and executor, and a node that runs pods here."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

from tests.apiserver.build import go
from tests.apiserver.client import WORKFLOWS, Refused
from tests.apiserver.server import NODE, ApiServer, free_ports
from tests.argo.pods import HERE, Node

Json = dict[str, Any]

SPACE = "default"
SOURCE = Path(__file__).resolve().parent / "go"
OFTEN = 0.2
ENDED = "workflows.argoproj.io/completed"


def built(checkout: Path, folder: Path) -> Path:
    """The folder of the programs: of Argo, from a checkout, and `node`. Raises CalledProcessError."""
    for where, package, name in (
        (checkout, "./cmd/argoexec", "argoexec"),
        (checkout, "./cmd/workflow-controller", "workflow-controller"),
        (SOURCE, ".", "node"),
    ):
        environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
        command = [go(), "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", str(folder / name), package]
        subprocess.run(command, cwd=where, env=environment, check=True)
    return folder


class Cluster:
    """The cluster, as a context. `folder` is empty, and on a file system of its own."""

    def __init__(self, checkout: Path, programs: Path, folder: Path) -> None:
        self.programs = programs
        self.folder = folder
        definitions = sorted((checkout / "manifests/base/crds/full").glob("argoproj.io_*.yaml"))
        self.server = ApiServer(crds=definitions)
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self.server.start()
        self.admin = self.server.admin
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            process.kill()
            process.wait()
        if hasattr(self, "node"):
            self.node.close()
        self.server.close()

    def _begin(self) -> None:
        files, kubelet = free_ports(2)
        host, port = HERE, str(self.server.port)
        environment = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
        authority = self.server.authority.read_text()
        account = {"token": self.admin.token, "ca.crt": authority, "namespace": SPACE}
        self.node = Node(self.admin, SPACE, self.folder, environment, account)
        shown = self.node.beside / "usr/bin"
        shown.mkdir(parents=True)
        shutil.copy(self.programs / "argoexec", shown)
        for name in ("kubelet.crt", "kubelet.key"):
            shutil.copy(self.server.folder / name, self.folder)
        self._run("node", f"{HERE}:{files}", f"{HERE}:{kubelet}", str(self.folder / "pods"))
        port_of_node = {"daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet}}}
        self.admin.patch(f"/api/v1/nodes/{NODE}/status", {"status": port_of_node})
        self._configure(f"{HERE}:{files}")
        self._run(
            "workflow-controller",
            *("--kubeconfig", str(self.server.kubeconfig())),
            *("--namespaced", "--namespace", SPACE),
            *("--executor-image", "argoexec:4.1", "--executor-image-pull-policy", "Never"),
        )
        self.node.start()

    def _configure(self, store: str) -> None:
        """What the controller reads: where artifacts are kept."""
        core = f"/api/v1/namespaces/{SPACE}"
        keys = {"accessKey": "any", "secretKey": "any"}
        self.admin.create(f"{core}/secrets", {"metadata": {"name": "store"}, "stringData": keys})
        bucket: Json = {"bucket": "argo", "endpoint": store, "insecure": True}
        bucket["keyFormat"] = "{{workflow.name}}/{{pod.name}}"
        bucket |= {f"{key}Secret": {"name": "store", "key": key} for key in keys}
        data = {
            "artifactRepository": json.dumps({"archiveLogs": False, "s3": bucket}),
            "metricsConfig": json.dumps({"enabled": False}),  # a port that others may use
        }
        metadata = {"name": "workflow-controller-configmap"}
        self.admin.create(f"{core}/configmaps", {"metadata": metadata, "data": data})

    def _run(self, name: str, *words: str) -> None:
        environment = {**os.environ, "LEADER_ELECTION_DISABLE": "true", "DEFAULT_REQUEUE_TIME": "1s"}
        with (self.folder / f"{name}.log").open("wb") as log:
            self._started.append(
                subprocess.Popen(
                    [str(self.programs / name), *words], stdout=log, stderr=subprocess.STDOUT, env=environment
                )
            )

    # --- what is in it -------------------------------------------------------------------------------

    def add(self, path: str, found: Json) -> None:
        """Create an object, unless it is there."""
        with contextlib.suppress(Refused):
            self.admin.create(path, found)

    def needs(self, manifest: Json) -> None:
        """Create the accounts and priority classes that a manifest names."""
        for name, path, more in (
            ("serviceAccountName", f"/api/v1/namespaces/{SPACE}/serviceaccounts", {}),
            ("priorityClassName", "/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 1}),
        ):
            pattern = (
                rf"(?i:{name})\W+([a-z0-9][a-z0-9.-]*)"  # that of pods begins with `pod`; in patches, too
            )
            for one in re.findall(pattern, json.dumps(manifest)):
                self.add(path, {"metadata": {"name": one}, **more})

    def has(self, found: Json) -> None:
        """Create a ConfigMap, WorkflowTemplate or ClusterWorkflowTemplate."""
        path = WORKFLOWS.format(SPACE).replace("workflows", f"{found['kind'].lower()}s")
        if found["kind"] == "ConfigMap":
            path = f"/api/v1/namespaces/{SPACE}/configmaps"
        elif found["kind"].startswith("Cluster"):
            path = path.replace(f"namespaces/{SPACE}/", "")
        self.add(path, found)

    def run(self, manifest: Json, seconds: float) -> Json:
        """A workflow when it has ended, or after a time; it has a name. Raises Refused."""
        path = WORKFLOWS.format(SPACE)
        self.admin.create(path, manifest)
        end = time.monotonic() + seconds
        while True:
            found = self.admin.get(f"{path}/{manifest['metadata']['name']}")
            if found["metadata"].get("labels", {}).get(ENDED) == "true" or time.monotonic() > end:
                return found
            time.sleep(OFTEN)
