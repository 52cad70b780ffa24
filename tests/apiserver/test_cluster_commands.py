"""`top`, `doctor`, `diff` and what a workflow needs, against a real API server."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import yaml

from flowdsl.cli.app import run
from flowdsl.runtime.cluster.kubernetes import Kubernetes
from flowdsl.runtime.cluster.transport import Access, Transport
from flowdsl.runtime.needs import missing
from tests.apiserver.client import PODS, WORKFLOWS, Object
from tests.apiserver.server import ApiServer
from tests.loopback import Loopback

APPLY = "application/apply-patch+yaml"
METRICS = """\
DCGM_FI_DEV_GPU_UTIL{{gpu="3",namespace="{0}",pod="busy"}} 87
DCGM_FI_DEV_FB_USED{{gpu="3",namespace="{0}",pod="busy"}} 30000
DCGM_FI_DEV_FB_FREE{{gpu="3",namespace="{0}",pod="busy"}} 10960
"""


@pytest.fixture
def flowdsl(
    server: ApiServer,
    namespace: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str, str]]:
    """Run a command as a user."""
    monkeypatch.chdir(tmp_path)

    def command(user: str, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig(user, namespace)))
        code = run(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


@pytest.fixture
def nodes(server: ApiServer) -> Iterator[None]:
    """Two nodes with GPUs, one of which has lost one."""
    for name, left in (("gpu-a", "4"), ("gpu-b", "3")):
        labels = {"nvidia.com/gpu.product": "NVIDIA-A100", "node-role.kubernetes.io/worker": ""}
        taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
        node = {"metadata": {"name": name, "labels": labels}, "spec": {"taints": [taint]}}
        server.admin.create("/api/v1/nodes", node)
        status = {
            "capacity": {"nvidia.com/gpu": "4", "cpu": "64"},
            "allocatable": {"nvidia.com/gpu": left, "cpu": "63500m"},
            "addresses": [{"type": "InternalIP", "address": "10.1.2.3"}],
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        }
        server.admin.patch(f"/api/v1/nodes/{name}/status", {"status": status})
    yield
    for name in ("gpu-a", "gpu-b"):
        server.admin.delete(f"/api/v1/nodes/{name}")


def make_pod(server: ApiServer, namespace: str, name: str, gpus: int, place: str, **labels: str) -> None:
    resources = {"limits": {"nvidia.com/gpu": gpus}} if gpus else {}
    spec: Object = {"containers": [{"name": "main", "image": "x", "resources": resources}]}
    if place:
        spec["nodeName"] = place
    pod = {"metadata": {"name": name, "labels": labels}, "spec": spec}
    server.admin.create(PODS.format(namespace), pod)
    status = {"phase": "Running" if place else "Pending"}
    server.admin.patch(f"{PODS.format(namespace)}/{name}/status", {"status": status})


RUN = {"workflows.argoproj.io/workflow": "train"}


def make_run(server: ApiServer, namespace: str) -> None:
    workflow: Object = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "train"},
        "spec": {"entrypoint": "a", "templates": [{"name": "a", "container": {"image": "x"}}]},
        "status": {"phase": "Running"},
    }
    server.admin.create(WORKFLOWS.format(namespace), workflow)
    make_pod(server, namespace, "busy", 2, "gpu-a", **RUN)
    make_pod(server, namespace, "waits", 1, "", **RUN)
    make_pod(server, namespace, "plain", 0, "gpu-a", **RUN)


def waiting_gpus(shown: str) -> int:
    """The GPUs for which pods wait, by what `top node` shows."""
    return int(shown.partition("Requested by pods that wait for a node: ")[2] or 0)


@pytest.mark.usefixtures("nodes")
def test_top_node(server: ApiServer, namespace: str, flowdsl: Callable[..., tuple[int, str, str]]) -> None:
    waited = waiting_gpus(flowdsl("admin", "top", "node")[1])  # what other tests left in the cluster
    make_run(server, namespace)
    elsewhere = server.namespace(f"{namespace}-other")
    make_pod(server, elsewhere, "notebook", 1, "gpu-b")
    code, out, err = flowdsl("admin", "top", "node")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    assert rows[0] == [
        "NAME",
        "IPADDRESS",
        "ROLE",
        "STATUS",
        "GPU(Total)",
        "GPU(Allocated)",
        "UNHEALTHY",
        "CARD",
    ]
    assert rows[1] == ["gpu-a", "10.1.2.3", "worker", "Ready", "4", "2", "0", "NVIDIA-A100"]
    assert rows[2] == ["gpu-b", "10.1.2.3", "worker", "Ready", "3", "1", "1", "NVIDIA-A100"]
    assert "Allocated/Total GPUs of the cluster: 3/7 (42.9%)" in out
    assert waiting_gpus(out) == waited + 1

    code, out, err = flowdsl("limited", "top", "node")
    assert (code, out) == (3, "")
    assert err.startswith("flowdsl: cannot list nodes: ")
    server.allow("limited", namespace, [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}])
    code, out, err = flowdsl("limited", "top", "node")
    assert code == 0
    assert "busy" in out
    assert "notebook" not in out
    assert f"only what those of `{namespace}` hold is counted" in err
    assert "nodes may not be read" in err


class Exporter(BaseHTTPRequestHandler):
    """Says what a DCGM exporter says."""

    text = b""

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        assert self.path == "/metrics"
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(self.text)))
        self.end_headers()
        self.wfile.write(self.text)


@pytest.fixture
def exporter(server: ApiServer, namespace: str) -> Iterator[None]:
    """The pod of an exporter, on this machine: the API server asks none at a loopback address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing
        address: str = probe.getsockname()[0]
    assert not address.startswith("127."), "this machine has no address but loopback"
    handler = type("Handler", (Exporter,), {"text": METRICS.format(namespace).encode()})
    with Loopback(handler, address) as listener:
        port = {"name": "metrics", "containerPort": listener.port}
        pod: Object = {
            "metadata": {"name": "exporter", "labels": {"app": "exporter"}},
            "spec": {"nodeName": "gpu-a", "containers": [{"name": "main", "image": "x", "ports": [port]}]},
        }
        server.admin.create(PODS.format(namespace), pod)
        status = {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}
        server.admin.patch(f"{PODS.format(namespace)}/exporter/status", {"status": status})
        yield


@pytest.mark.usefixtures("nodes", "exporter")
def test_top_job(server: ApiServer, namespace: str, flowdsl: Callable[..., tuple[int, str, str]]) -> None:
    make_run(server, namespace)
    code, out, err = flowdsl("admin", "top", "job")
    assert (code, err) == (0, "")
    name, status, _, requested, allocated, node = out.splitlines()[1].split()
    assert (name, status, requested, allocated, node) == ("train", "Running", "3", "2", "gpu-a")
    code, out, err = flowdsl("admin", "top", "job", "train", "--instance", "--exporter", "app=exporter")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["busy", "Running", "2", "gpu-a", "3", "87%", "30000/40960MiB"],
        ["waits", "Pending", "1", "-", "N/A", "N/A", "N/A"],
    ]
    rules = [
        {"apiGroups": ["argoproj.io"], "resources": ["workflows"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    ]
    server.allow("limited", namespace, rules)
    code, out, err = flowdsl("limited", "top", "job", "--instance", "--exporter", "app=exporter")
    assert code == 0
    assert "note: the exporter exporter does not answer: cannot ask Pod `exporter`" in err
    assert out.splitlines()[1].split() == ["busy", "Running", "2", "gpu-a", "N/A", "N/A", "N/A"]


NEEDS = """
entrypoint: main
serviceAccountName: nobody
volumes: [{name: data, persistentVolumeClaim: {claimName: datasets}}]
templates:
- name: main
  dag:
    tasks:
    - {name: train, template: train}
    - {name: job, template: job}
    - {name: other, template: other}
- name: train
  container:
    image: x
    envFrom: [{secretRef: {name: hub}}]
    volumeMounts: [{name: data, mountPath: /d}]
    resources: {limits: {nvidia.com/gpu: 4}}
- name: job
  resource: {action: create, manifest: "{apiVersion: batch/v1, kind: Job}"}
- name: other
  resource: {action: create, manifest: "{apiVersion: kubeflow.org/v1, kind: MPIJob}"}
"""


def test_what_a_workflow_needs(server: ApiServer, namespace: str) -> None:
    run: Object = {"kind": "Workflow", "metadata": {"name": "x"}, "spec": yaml.safe_load(NEEDS)}
    quota = {
        "metadata": {"name": "small"},
        "spec": {"hard": {"requests.nvidia.com/gpu": "2", "count/workflows.argoproj.io": "0"}},
    }
    server.admin.create(f"/api/v1/namespaces/{namespace}/resourcequotas", quota)
    admin = Kubernetes(Transport(Access(kubeconfig=server.kubeconfig("admin", namespace))))
    found = [f"{one.weight}: {one.text}" for one in missing(admin, run)]
    within = f"in namespace `{namespace}`"
    rule = f"ResourceQuota `small` of namespace `{namespace}`"
    assert found == [
        f"problem: there is no ServiceAccount `nobody` {within}, which the workflow needs",
        f"problem: there is no Secret `hub` {within}, which the step `train` needs",
        f"problem: there is no PersistentVolumeClaim `datasets` {within}, which the step `train` needs",
        "problem: the cluster has no `MPIJob` of `kubeflow.org/v1`, which the step `other` needs",
        f"problem: {rule} allows 0 Workflows, and that many are there",
        (
            f"problem: {rule} allows 2 of `requests.nvidia.com/gpu` in all, "
            "less than the 4 which the step `train` needs"
        ),
        "note: no node has 4 of `nvidia.com/gpu` (the most is 0), which the step `train` needs",
    ]
    limited = Kubernetes(Transport(Access(kubeconfig=server.kubeconfig("limited", namespace))))
    weights = [one.weight for one in missing(limited, run)]
    assert weights == ["unchecked", "unchecked", "unchecked", "problem", "unchecked", "unchecked"]


@pytest.mark.usefixtures("nodes")
def test_doctor(server: ApiServer, namespace: str, flowdsl: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = flowdsl("admin", "doctor")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].startswith(f"ok        server: cluster `test`, namespace `{namespace}`, Kubernetes v1.")
    assert lines[1] == "ok        credentials: the server knows you as `admin`"
    assert lines[2].startswith("ok        definitions: full: ")
    assert "ok        gpus: nodes with GPUs: 2, of `NVIDIA-A100`" in lines
    problems = [line.split()[1] for line in lines if line.startswith("problem")]
    assert problems == ["controller:", "accounts:"]

    group = "rbac.authorization.k8s.io"
    path = f"/apis/{group}/v1/namespaces/{namespace}"
    rule = {"apiGroups": ["argoproj.io"], "resources": ["workflowtaskresults"], "verbs": ["create", "patch"]}
    server.admin.create(f"{path}/roles", {"metadata": {"name": "executor"}, "rules": [rule]})
    binding = {
        "metadata": {"name": "executor"},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": "executor"},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": namespace}],
    }
    server.admin.create(f"{path}/rolebindings", binding)
    image = {"containers": [{"name": "main", "image": "argoproj/workflow-controller:v4.1.2"}]}
    labels = {"matchLabels": {"app": "x"}}
    deployment: Object = {
        "metadata": {"name": "controller"},
        "spec": {"selector": labels, "template": {"metadata": {"labels": {"app": "x"}}, "spec": image}},
    }
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    server.admin.create(deployments, deployment)
    status = {"availableReplicas": 1, "readyReplicas": 1, "replicas": 1}
    server.admin.patch(f"{deployments}/controller/status", {"status": status})
    code, out, err = flowdsl("admin", "doctor")
    assert (code, err) == (0, "")
    server.admin.delete(f"{deployments}/controller")

    code, out, err = flowdsl("limited", "doctor")
    assert (code, err) == (1, "")
    assert "unchecked gpus: nodes may not be read" in out
    assert "problem   rights: you may not create, get, list, watch workflows.argoproj.io" in out
    assert "--user=limited" in out


TEMPLATE = """\
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata:
  name: train
  annotations: {team: a}
spec:
  entrypoint: main
  templates:
  - name: main
    container:
      image: python:3.12
      command: [python]
      ports: [{containerPort: 80}]
      resources: {limits: {cpu: "1", nvidia.com/gpu: "1"}}
"""


def test_diff(
    server: ApiServer, namespace: str, flowdsl: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    (tmp_path / "t.yaml").write_text(TEMPLATE)
    code, out, err = flowdsl("admin", "diff", "t.yaml")
    assert (code, err) == (1, "")
    assert out.startswith("--- /dev/null\n+++ WorkflowTemplate/train\n")
    path = f"/apis/argoproj.io/v1alpha1/namespaces/{namespace}/workflowtemplates/train"
    server.admin.call("PATCH", path, TEMPLATE.encode(), kind=APPLY, query={"fieldManager": "test"})
    server.admin.patch(path, {"metadata": {"labels": {"added": "by-others"}}})
    assert flowdsl("admin", "diff", "t.yaml") == (0, "", "")
    (tmp_path / "t.yaml").write_text(
        TEMPLATE.replace("3.12", "3.13").replace("  annotations: {team: a}\n", "")
    )
    code, out, err = flowdsl("admin", "diff", "t.yaml")
    assert (code, err) == (1, "")
    changed = [line for line in out.splitlines() if line[0] in "+-"]
    assert changed[2:] == [
        "-  annotations:",
        "-    team: a",
        "-      image: python:3.12",
        "+      image: python:3.13",
    ]
    names = [one["metadata"]["name"] for one in server.admin.get(path.removesuffix("/train"))["items"]]
    assert names == ["train"]

    assert flowdsl("limited", "diff", "t.yaml")[0] == 3
    server.allow(
        "limited",
        namespace,
        [{"apiGroups": ["argoproj.io"], "resources": ["workflowtemplates"], "verbs": ["get"]}],
    )
    (tmp_path / "t.yaml").write_text(TEMPLATE)
    assert flowdsl("limited", "diff", "t.yaml") == (0, "", "")
