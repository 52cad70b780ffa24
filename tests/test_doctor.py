"""`flowdsl doctor` and `flowdsl diff`, against a cluster that stands still."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from flowdsl.cli.clusters.reach import Reach
from flowdsl.compiler.profile import Claim, Pool, Product, Profile
from flowdsl.runtime.checkup import checkup
from flowdsl.runtime.checkup.visit import Visit
from flowdsl.runtime.cluster.kinds import VERSION
from flowdsl.runtime.cluster.trouble import NOT_FOUND, Refusal, Unreachable
from tests.commands import Result, in_process
from tests.standing import Standing, thing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from flowdsl.runtime.cluster.seam import Kind

Json = dict[str, Any]
Command = "Callable[..., Result]"

SERVED = {
    "argoproj.io/v1alpha1": [
        *("Workflow", "WorkflowTemplate", "CronWorkflow", "ClusterWorkflowTemplate"),
        "WorkflowTaskResult",
    ]
}


def definition(fields: Json | None) -> Json:
    spec = {"x-kubernetes-preserve-unknown-fields": True} if fields is None else {"properties": fields}
    version = {"storage": True, "schema": {"openAPIV3Schema": {"properties": {"spec": spec}}}}
    return thing("CustomResourceDefinition", "workflows.argoproj.io", spec={"versions": [version]})


def controller(image: str, available: int = 1) -> Json:
    pod = {"containers": [{"image": "helper:1"}, {"image": image}]}
    return thing(
        "Deployment",
        "workflow-controller",
        "argo",
        spec={"template": {"spec": pod}},
        status={"availableReplicas": available},
    )


REPOSITORY = """
s3:
  bucket: runs
  endpoint: store:9000
  accessKeySecret: {name: store, key: id}
"""
NODE = thing(
    "Node",
    "gpu-0",
    metadata={"labels": {"nvidia.com/gpu.product": "A100", "pool": "new"}},
    spec={"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]},
    status={"capacity": {"nvidia.com/gpu": "4"}, "allocatable": {"nvidia.com/gpu": "4"}},
)
HEALTHY = [
    thing("Namespace", "ml"),
    definition({"templates": {}, "entrypoint": {}}),
    controller("quay.example/argoproj/workflow-controller:v4.1.2"),
    thing(
        "ConfigMap",
        "artifact-repositories",
        metadata={"annotations": {"workflows.argoproj.io/default-artifact-repository": "main"}},
        data={"main": REPOSITORY},
    ),
    thing("Secret", "store", data={"id": "x"}),
    thing(
        "StorageClass",
        "files",
        metadata={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        provisioner="nfs.csi.k8s.io",
    ),
    thing(
        "PersistentVolumeClaim",
        "datasets",
        spec={"accessModes": ["ReadWriteMany"]},
        status={"phase": "Bound"},
    ),
    NODE,
]
PROFILE = Profile(
    "lab",
    products={"A100": Product(("A100",))},
    pools={"new": Pool({"pool": "new"})},
    volumes={"data": Claim("datasets", "ReadWriteMany")},
)


class Reviewing(Standing):
    """Answers access reviews: requests in `denied`, such as `delete pods`, are not allowed.

    Those in `denied_to_pods` are not allowed to their account.
    """

    denied: tuple[str, ...] = ()
    denied_to_pods: tuple[str, ...] = ()

    def create(self, kind: Kind, body: Json, *, dry_run: bool = False) -> Json:
        self._allow("create", kind, "", None)
        if kind.name == "SelfSubjectReview":
            return {"status": {"userInfo": {"username": "ada"}}}
        attributes = body["spec"]["resourceAttributes"]
        denied = self.denied
        if kind.name == "LocalSubjectAccessReview":
            assert body["spec"]["user"] == "system:serviceaccount:ml:default"
            assert (attributes["namespace"], attributes["group"]) == ("ml", "argoproj.io")
            denied = self.denied_to_pods
        plural = "/".join(filter(None, (attributes["resource"], attributes.get("subresource"))))
        return {"status": {"allowed": f"{attributes['verb']} {plural}" not in denied}}


def healthy(*without: str, more: tuple[Json, ...] = (), **rest: Any) -> Reviewing:
    objects = [one for one in HEALTHY if one["kind"] not in without]
    return Reviewing([*objects, *more], served=SERVED, **rest)


def said(cluster: Standing, profile: Profile = PROFILE, manifests: tuple[Json, ...] = ()) -> list[str]:
    """The checks that are not ok, as lines."""
    found = checkup(Visit(cluster, profile, manifests))
    return [f"{one.status} {one.about}: {one.text} | {one.remedy}" for one in found if one.status != "ok"]


def test_a_healthy_cluster() -> None:
    assert said(healthy()) == []
    assert [one.text for one in checkup(Visit(healthy(), PROFILE)) if one.about != "rights"] == [
        "cluster `lab`, namespace `ml`, Kubernetes v1.35.4",
        "the server knows you as `ada`",
        "full: the server checks all fields of a Workflow (2 in its spec)",
        "`workflow-controller` in namespace `argo`, quay.example/argoproj/workflow-controller:v4.1.2",
        "the account `default` may create, patch workflowtaskresults.argoproj.io",
        "the artifact repository is s3 `runs` at store:9000 (ConfigMap `artifact-repositories` of namespace `ml`)",
        "storage classes: `files` (default, ReadWriteMany)",
        "the claim `datasets` of volume `data`: ReadWriteMany",
        "nodes with GPUs: 1, of `A100`",
    ]


INSTALL = "kubectl create namespace argo && kubectl apply --server-side -n argo -f "


@pytest.mark.parametrize(
    ("served", "beginning"),
    [
        ({}, "problem definitions: Argo Workflows is not installed: the server knows no Workflow, "),
        (
            {"argoproj.io/v1alpha1": SERVED["argoproj.io/v1alpha1"][:-1]},
            "problem definitions: there is no WorkflowTaskResult: the server knows no WorkflowTaskResult | "
            + INSTALL,
        ),
    ],
)
def test_definitions_that_are_missing(served: dict[str, list[str]], beginning: str) -> None:
    (found,) = said(Reviewing(HEALTHY, served=served))
    assert found.startswith(beginning)


def test_a_namespace_that_is_not_there() -> None:
    (found,) = said(healthy("Namespace"))
    assert found == (
        "problem namespace: there is no namespace `ml` | kubectl create namespace ml, or name another one with -n"
    )
    assert said(healthy("Namespace", forbidden=["get namespaces"])) == []


def test_minimal_definitions() -> None:
    found = checkup(Visit(healthy("CustomResourceDefinition", more=(definition(None),))))
    assert any(one.text.startswith("minimal: the server takes any field") for one in found)


@pytest.mark.parametrize(
    ("more", "profile", "text"),
    [
        ((), PROFILE, "problem controller: no controller of Argo runs in this cluster"),
        (
            (controller("argoproj/workflow-controller:v4.1.2", 0),),
            PROFILE,
            (
                "problem controller: `workflow-controller` in namespace `argo`, argoproj/workflow-controller:v4.1.2, "
                "is not available: no run continues | kubectl describe deployment workflow-controller -n argo"
            ),
        ),
        (
            (controller("argoproj/workflow-controller:v3.6.7"),),
            PROFILE,
            (
                "problem controller: `workflow-controller` in namespace `argo`, argoproj/workflow-controller:v3.6.7: "
                'it is Argo 3.6, and pipelines are compiled for 4.1 | write argo = "3.6" in [clusters.lab]'
            ),
        ),
        (
            (controller("argoproj/workflow-controller:v4.1.0"),),
            PROFILE._replace(argo="4.0"),
            (
                "note controller: `workflow-controller` in namespace `argo`, argoproj/workflow-controller:v4.1.0: "
                'it is Argo 4.1, and pipelines are compiled for 4.0 | write argo = "4.1" in [clusters.lab]'
            ),
        ),
        (
            (controller("argoproj/workflow-controller:v3.4.1"),),
            Profile(),
            (
                "problem controller: `workflow-controller` in namespace `argo`, argoproj/workflow-controller:v3.4.1: "
                "it is Argo 3.4, and pipelines are compiled for 4.1; flowdsl knows 3.6 to 4.1 | install a newer Argo"
            ),
        ),
        (
            (controller("argoproj/workflow-controller@sha256:00"),),
            Profile(),
            (
                "note controller: `workflow-controller` in namespace `argo`, argoproj/workflow-controller@sha256:00: "
                "its version is not in the name of the image; it is compiled for 4.1 | "
                'argo = "4.1" in a [clusters.NAME] says what is compiled for'
            ),
        ),
    ],
)
def test_controllers(more: tuple[Json, ...], profile: Profile, text: str) -> None:
    (found,) = [one for one in said(healthy("Deployment", more=more), profile) if " controller: " in one]
    assert found.startswith(text)


def test_a_controller_that_only_its_own_namespace_shows() -> None:
    assert said(healthy(forbidden=["list deployments *"])) == []
    (found,) = said(healthy(forbidden=["list deployments"]))
    assert found == (
        "unchecked controller: deployments may not be read | kubectl auth can-i list deployments.apps -n argo"
    )


def test_rights_that_are_missing() -> None:
    cluster = healthy()
    cluster.denied = ("watch workflows", "list pods", "get pods/log", "list nodes")
    assert said(cluster) == [
        (
            "problem rights: you may not watch workflows.argoproj.io (submit, get, watch) | "
            "kubectl create role flowdsl-workflows-watch --verb=watch --resource=workflows.argoproj.io -n ml && "
            "kubectl create rolebinding flowdsl-workflows-watch --role=flowdsl-workflows-watch --user=ada -n ml"
        ),
        (
            "problem rights: you may not list pods (get, logs) | "
            "kubectl create role flowdsl-pods-list --verb=list --resource=pods -n ml && "
            "kubectl create rolebinding flowdsl-pods-list --role=flowdsl-pods-list --user=ada -n ml"
        ),
        (
            "note rights: you may not get pods/log (logs) | "
            "kubectl create role flowdsl-pods-log-get --verb=get --resource=pods/log -n ml && "
            "kubectl create rolebinding flowdsl-pods-log-get --role=flowdsl-pods-log-get --user=ada -n ml"
        ),
        (
            "note rights: you may not list nodes (top node) | "
            "kubectl create clusterrole flowdsl-nodes-list --verb=list --resource=nodes && "
            "kubectl create clusterrolebinding flowdsl-nodes-list --clusterrole=flowdsl-nodes-list --user=ada"
        ),
    ]


def test_the_account_of_the_pods() -> None:
    cluster = healthy()
    cluster.denied_to_pods = ("patch workflowtaskresults",)
    (found,) = said(cluster)
    assert found.startswith(
        "problem accounts: the account `default` of pods may not patch workflowtaskresults.argoproj.io: "
    )
    cluster.denied_to_pods += ("create workflowtaskresults",)
    (found,) = said(cluster)
    assert found == (
        "problem accounts: the account `default` of pods may not create, patch workflowtaskresults.argoproj.io: "
        "its steps end with an error | kubectl create role default-steps-workflowtaskresults-create "
        "--verb=create,patch --resource=workflowtaskresults.argoproj.io -n ml && "
        "kubectl create rolebinding default-steps-workflowtaskresults-create "
        "--role=default-steps-workflowtaskresults-create --serviceaccount=ml:default -n ml"
    )
    (found,) = said(healthy(forbidden=["create localsubjectaccessreviews"]))
    assert found.startswith("unchecked accounts: whether the account `default` may create, patch")
    unknown = healthy(forbidden=["create selfsubjectaccessreviews", "create selfsubjectreviews"])
    assert next(one.split(" | ")[0] for one in said(unknown)).startswith(
        "unchecked rights: what you may do cannot be told: "
    )


def flow(spec: str) -> Json:
    found: Json = {"kind": "Workflow", "metadata": {"generateName": "train-"}, "spec": yaml.safe_load(spec)}
    return found


KEEPING = flow(
    "{entrypoint: a, templates: [{name: a, container: {image: x}, outputs: {artifacts: [{name: m, path: /m}]}}]}"
)


def test_the_artifact_repository() -> None:
    (found,) = said(healthy("Secret"))
    assert found == (
        "problem artifacts: there is no Secret `store` in namespace `ml`, which the artifact repository needs | "
        "kubectl create secret generic store -n ml --from-literal=id=VALUE"
    )
    (found,) = said(healthy("ConfigMap"))
    assert found.startswith(
        "note artifacts: no artifact repository is set up: a file can go from step to step with"
    )
    (found,) = said(healthy("ConfigMap"), manifests=(KEEPING,))
    assert found.startswith("problem artifacts: no artifact repository is set up: ")
    assert "with store= only; files are kept by `a` | kubectl edit configmap" in found
    (found,) = said(healthy("ConfigMap", forbidden=["get configmaps"]))
    assert found.startswith("unchecked artifacts: the artifact repository is not known: ConfigMap ")
    for data in (
        {"artifactRepository": REPOSITORY},
        {"config": f"artifactRepository: {yaml.safe_load(REPOSITORY)}"},
    ):
        whole = thing("ConfigMap", "workflow-controller-configmap", "argo", data=data)
        assert said(healthy("ConfigMap", more=(whole,))) == []
    broken = thing("ConfigMap", "workflow-controller-configmap", "argo", data={"artifactRepository": "{"})
    assert said(healthy("ConfigMap", more=(broken,)))[0].startswith("note artifacts: no artifact repository")


def test_storage_classes() -> None:
    (found,) = said(healthy("StorageClass"))
    assert found.startswith(
        "note volumes: no storage class is the default: NewVolume needs one by name, of these: none"
    )
    disk = thing("StorageClass", "disk", provisioner="ebs.csi.aws.com")
    first, second = said(healthy("StorageClass", more=(disk,)))
    assert first.startswith(
        "note volumes: no storage class is the default: NewVolume needs one by name, of these: `disk`"
    )
    assert second.startswith("note volumes: no storage class gives ReadWriteMany: ")
    (found,) = said(healthy(forbidden=["list storageclasses"]))
    assert found.startswith("unchecked volumes: storage classes may not be read")


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (
            None,
            "problem volumes: the claim `datasets` of volume `data` is not in namespace `ml` | kubectl get pvc -n ml",
        ),
        (
            {"spec": {"accessModes": ["ReadWriteOnce"]}},
            (
                "problem volumes: the claim `datasets` of volume `data` has ReadWriteOnce, and the settings say "
                'ReadWriteMany | write mode = "ReadWriteOnce" in [clusters.lab]'
            ),
        ),
        (
            {"spec": {"accessModes": ["ReadWriteMany"]}, "status": {"phase": "Lost"}},
            "problem volumes: the claim `datasets` of volume `data` has lost its volume",
        ),
        (
            {"spec": {"accessModes": ["ReadWriteMany"]}, "status": {"phase": "Pending"}},
            "note volumes: the claim `datasets` of volume `data` has no volume yet",
        ),
    ],
)
def test_claims_of_the_settings(claim: Json | None, text: str) -> None:
    more = () if claim is None else (thing("PersistentVolumeClaim", "datasets", **claim),)
    (found,) = said(healthy("PersistentVolumeClaim", more=more))
    assert found.startswith(text)


def test_gpus_against_the_settings() -> None:
    plain = thing("Node", "cpu-0")
    assert said(healthy("Node", more=(plain,)), Profile()) == [
        "note gpus: none of 1 nodes has a GPU now: a step with gpu= waits until one is added | "
    ]
    profile = PROFILE._replace(
        products={**PROFILE.products, "H100": Product(("NVIDIA-H100",))}, pools={"old": Pool({"pool": "old"})}
    )
    bare = thing(
        "Node",
        "bare-0",
        spec={"taints": [{"key": "team", "value": "b", "effect": "NoSchedule"}]},
        status={"capacity": {"nvidia.com/gpu": "1"}},
    )
    assert said(healthy(more=(bare,)), profile) == [
        (
            "note gpus: nodes with GPUs have no label `nvidia.com/gpu.product`, so product= finds none of them: "
            "`bare-0` | install GPU feature discovery, or name the label: "
            'labels = {"gpu.product" = "..."} in [clusters.lab]'
        ),
        (
            "problem gpus: steps with gpu= do not tolerate the taint `team=b:NoSchedule` of `bare-0`: "
            'they are kept away | write gpu-taints = ["team=b:NoSchedule"] in [clusters.lab], '
            "or in the pool that these nodes are"
        ),
        (
            "note gpus: no node has the product `H100` now (nvidia.com/gpu.product = NVIDIA-H100) | "
            "kubectl get nodes -L nvidia.com/gpu.product shows what there is"
        ),
        "note gpus: no node is in the pool `old` now (pool=old) | kubectl get nodes --show-labels shows what there is",
    ]
    tolerant = PROFILE._replace(tolerations=({"key": "team", "operator": "Exists"},))
    assert [one for one in said(healthy(more=(bare,)), tolerant) if "taint" in one] == []
    assert said(healthy(forbidden=["list nodes"])) == [
        "unchecked gpus: nodes may not be read | kubectl auth can-i list nodes"
    ]


def test_what_a_manifest_needs() -> None:
    run = flow(
        "{entrypoint: a, templates: [{name: a, container: {image: x, envFrom: [{secretRef: {name: key}}]}}]}"
    )
    (found,) = said(healthy(), manifests=(run,))
    assert found == (
        "problem train: there is no Secret `key` in namespace `ml`, which the step `a` needs | "
        "kubectl create secret generic key -n ml"
    )


# --- commands --------------------------------------------------------------------------------------------


@pytest.fixture
def flowdsl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    """Run a command against a cluster."""
    monkeypatch.chdir(tmp_path)
    command = in_process(capsys)

    def on(cluster: Standing, *arguments: str) -> Result:
        def connect(_: Reach) -> Standing:
            return cluster

        monkeypatch.setattr(Reach, "connect", connect)
        return command(*arguments)

    return on


def test_doctor(flowdsl: Callable[..., Result], tmp_path: Path) -> None:
    code, out, err = flowdsl(healthy(), "doctor")
    assert (code, err) == (0, "")
    assert out.startswith(
        "ok        server: cluster `lab`, namespace `ml`, Kubernetes v1.35.4\nok        credentials: "
    )
    assert out.endswith("\n\nno problem in 22 checks\n")
    code, out, _ = flowdsl(healthy("StorageClass", forbidden=["list nodes"]), "doctor")
    assert (code, out.splitlines()[-1]) == (
        0,
        "no problem in 22 checks (1 to note, 1 that could not be read)",
    )
    code, out, _ = flowdsl(healthy("Deployment"), "doctor")
    assert (code, out.splitlines()[-1]) == (
        1,
        "1 problem in 22 checks; the line below each says what mends it",
    )
    assert "\n          kubectl create namespace argo && kubectl apply" in out
    code, out, _ = flowdsl(healthy("Deployment"), "doctor", "--json")
    assert code == 1
    assert [one["about"] for one in json.loads(out) if one["status"] == "problem"] == ["controller"]
    assert flowdsl(healthy("Deployment"), "doctor", "-o", "json")[:2] == (1, out)
    (tmp_path / "run.yaml").write_text(yaml.safe_dump({"apiVersion": "argoproj.io/v1alpha1", **KEEPING}))
    code, out, _ = flowdsl(healthy(), "doctor", "run.yaml")
    assert (code, out.splitlines()[-3]) == (0, "ok        train: the cluster has what it needs")
    (tmp_path / "wrong.yaml").write_text("kind: Workflow\napiVersion: argoproj.io/v1alpha1\n")
    code, out, err = flowdsl(healthy(), "doctor", "wrong.yaml")
    assert (code, out) == (2, "")
    assert "error[" in err


def test_a_server_that_is_away_or_does_not_know_the_user(
    flowdsl: Callable[..., Result],
) -> None:
    class Away(Reviewing):
        def version(self) -> str:
            raise Unreachable("https://lab cannot be reached: Connection refused", sent=False)

    code, out, err = flowdsl(Away(), "doctor")
    assert (code, out, err) == (3, "", "flowdsl: https://lab cannot be reached: Connection refused\n")

    class Reticent(Reviewing):
        def version(self) -> str:
            raise Refusal(403, {"message": "forbidden"}, "get", VERSION, "", "")

    code, out, _ = flowdsl(Reticent(), "doctor")
    first, second, *_ = out.splitlines()
    assert first == "unchecked server: cluster `lab`, namespace `ml`; which version it has may not be read"
    assert second.startswith("ok        credentials: ")

    class Elsewhere(Reviewing):
        def version(self) -> str:
            raise Refusal(404, {"message": "no such page"}, "get", VERSION, "", "")

    said = "flowdsl: cannot get version: no such page; is that the address of an API server?\n"
    assert flowdsl(Elsewhere(), "doctor") == (3, "", said)

    class Strange(Reviewing):
        def create(self, kind: Kind, body: Json, *, dry_run: bool = False) -> Json:
            raise Refusal(401, {"message": "Unauthorized"}, "create", kind, "", "")

    code, _, err = flowdsl(Strange(), "doctor")
    assert (code, err) == (
        3,
        "flowdsl: cannot create SelfSubjectReview: Unauthorized; log in to the cluster again\n",
    )


TEMPLATE = """\
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata:
  name: train
  labels: {team: a}
spec:
  entrypoint: main
  templates:
  - name: main
    container:
      image: python:3.12
      command: [python]
      ports: [{containerPort: 80}]
"""


def defaulting(_: Kind, body: Json) -> Json:
    """A document as a server stores it: with a protocol for each port, and fields that it sets."""
    found: Json = json.loads(json.dumps(body))
    for one in found["spec"]["templates"]:
        for port in one["container"].get("ports", ()):
            port["protocol"] = "TCP"
    found["metadata"] |= {"uid": "1", "managedFields": [], "creationTimestamp": "2026-01-01T00:00:00Z"}
    return found


def stored(text: str, **metadata: Any) -> Json:
    found: Json = yaml.safe_load(text)
    found = defaulting(found["kind"], found)
    found["metadata"] |= {"namespace": "ml", "resourceVersion": "7", **metadata}
    return {**found, "status": {"phase": "Running"}}


@pytest.fixture
def diff(flowdsl: Callable[..., Result], tmp_path: Path) -> Callable[..., Result]:
    def command(cluster: Standing, text: str = TEMPLATE) -> Result:
        (tmp_path / "t.yaml").write_text(text)
        return flowdsl(cluster, "diff", "t.yaml")

    return command


def test_what_the_server_writes_is_no_difference(diff: Callable[..., Result]) -> None:
    foreign = {"argocd.argoproj.io/tracking-id": "x"}
    cluster = Standing([stored(TEMPLATE, annotations=foreign)], created=defaulting)
    assert diff(cluster) == (0, "", "")


def test_what_the_controller_adds_to_a_run_is_no_difference(diff: Callable[..., Result]) -> None:
    text = TEMPLATE.replace("WorkflowTemplate", "Workflow").replace("name: train", "generateName: train-", 1)
    run = stored(text, name="train-x7k2p")
    run["spec"]["arguments"] = {}
    (template,) = run["spec"]["templates"]
    template |= {"inputs": {}, "outputs": {}, "metadata": {}}
    template["container"] |= {"name": "", "resources": {}}
    run["spec"]["volumeClaimTemplates"] = [
        {"metadata": {"creationTimestamp": None}, "spec": {}, "status": {}}
    ]
    code, out, _ = diff(Standing([run], created=defaulting), text)
    assert code == 1
    assert [one for one in out.splitlines() if one.startswith(("-", "+"))][2:] == [
        "-  volumeClaimTemplates:",
        "-  - {spec: {}}",
    ]
    del run["spec"]["volumeClaimTemplates"]
    assert diff(Standing([run], created=defaulting), text)[0] == 0
    template["container"]["resources"] = {"limits": {"cpu": 1}}
    assert "-      resources:\n-        limits:\n" in diff(Standing([run], created=defaulting), text)[1]


PARAMETER = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(epochs: int) -> None:
    print(epochs)


@pipeline
def nightly(epochs: int = 5) -> None:
    train(epochs)
"""


def test_another_value_of_a_parameter_is_compared(flowdsl: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "pipeline.py").write_text(PARAMETER)
    (tmp_path / "t.yaml").write_text(TEMPLATE)
    words = ("pipeline.py", "--as", "template", "-p", "epochs=7")
    code, text, err = flowdsl(Standing(), "compile", *words)
    assert (code, err) == (0, "")
    there: Json = yaml.safe_load(text)
    there["metadata"]["namespace"] = "ml"
    cluster = Standing([there], created=lambda _, body: body)
    assert flowdsl(cluster, "diff", *words) == (0, "", "")
    code, text, _ = flowdsl(cluster, "diff", *words[:-1], "epochs=8")
    assert code == 1
    changed = [one for one in text.splitlines() if one[:1] in "+-" and "epochs" in one]
    assert changed == ['-    - {name: epochs, value: "7"}', '+    - {name: epochs, value: "8"}']
    assert flowdsl(cluster, "diff", *words[:-1], "epochs=many")[0] == 2
    said = "flowdsl: -p is for a pipeline, which is compiled with it: what YAML says is in it\n"
    assert flowdsl(cluster, "diff", "t.yaml", "-p", "epochs=7") == (2, "", said)


def test_a_difference_is_shown_in_the_order_of_the_file(diff: Callable[..., Result]) -> None:
    last = json.dumps({"metadata": {"labels": {"team": "a", "gone": "x"}}})
    before = stored(
        TEMPLATE.replace("3.12", "3.11"),
        labels={"gone": "x", "team": "a", "other": "y"},
        annotations={"kubectl.kubernetes.io/last-applied-configuration": last},
        managedFields=[
            {"operation": "Apply", "fieldsV1": {"f:metadata": {"f:annotations": {".": {}, "f:mine": {}}}}}
        ],
    )
    before["metadata"]["annotations"]["mine"] = "z"
    code, out, err = diff(Standing([before], created=defaulting))
    assert (code, err) == (1, "")
    assert out == (
        "--- WorkflowTemplate/train\tcluster\n+++ WorkflowTemplate/train\tcompiled\n"
        "@@ -4,15 +4,12 @@\n"
        "   name: train\n"
        "   labels:\n"
        "     team: a\n"
        "-    gone: x\n"
        "-  annotations:\n"
        "-    mine: z\n"
        " spec:\n"
        "   entrypoint: main\n"
        "   templates:\n"
        "   - name: main\n"
        "     container:\n"
        "-      image: python:3.11\n"
        "+      image: python:3.12\n"
        "       command: [python]\n"
        "       ports:\n"
        "       - {containerPort: 80}\n"
    )


def test_without_a_dry_run_the_defaults_of_the_server_are_known(
    diff: Callable[..., Result],
) -> None:
    cluster = Standing([stored(TEMPLATE)], forbidden=["create workflowtemplates"])
    assert diff(cluster) == (0, "", "")
    cluster.objects[0]["spec"]["templates"][0]["container"]["ports"][0]["protocol"] = "UDP"
    assert "-      - {containerPort: 80, protocol: UDP}\n" in diff(cluster)[1]


def test_what_is_not_there_is_all_new(diff: Callable[..., Result]) -> None:
    code, out, _ = diff(Standing(created=defaulting))
    assert code == 1
    assert out.startswith("--- /dev/null\n+++ WorkflowTemplate/train\n@@ -0,0 +1,")
    assert "+  name: train\n" in out


def test_what_the_server_would_not_take(diff: Callable[..., Result]) -> None:
    def refuse(kind: Kind, _: Json) -> Json:
        raise Refusal(422, {"message": "spec.entrypoint: Invalid value"}, "create", kind, "x", "ml")

    code, out, err = diff(Standing([stored(TEMPLATE)], created=refuse))
    assert (code, out) == (3, "")
    assert "Invalid value" in err


RUN = TEMPLATE.replace("WorkflowTemplate", "Workflow").replace(
    "  name: train\n", "  generateName: train-\n", 1
)


def test_a_workflow_is_compared_with_its_newest_run(diff: Callable[..., Result]) -> None:
    runs = [
        stored(
            RUN.replace("3.12", image),
            name=name,
            generateName="train-",
            creationTimestamp=f"2026-01-0{day}T00:00:00Z",
        )
        for name, image, day in (
            ("train-abc12", "3.10", 1),
            ("train-xyz34", "3.12", 2),
            ("train-big-abc", "3.9", 3),
        )
    ]
    code, out, err = diff(Standing(runs, created=defaulting), RUN)
    assert (code, out) == (0, "")
    assert err == "Workflow/train-: compared with the run train-xyz34\n"
    code, out, err = diff(Standing(runs[:1], created=defaulting), RUN)
    assert code == 1
    assert "-      image: python:3.10\n+      image: python:3.12\n" in out
    code, out, err = diff(Standing(created=defaulting), RUN)
    assert (code, err) == (
        1,
        "Workflow/train-: there is no run to compare with in cluster `lab`: all of it is new\n",
    )
    assert out.startswith("--- /dev/null\n+++ Workflow/train-\n@@ -0,0 +1,")
    assert "+  generateName: train-\n" in out


def test_a_cluster_without_argo(diff: Callable[..., Result]) -> None:
    class Bare(Standing):
        def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json:
            raise Refusal(NOT_FOUND, {"message": "the server could not find it"}, "get", kind, name, "ml")

    code, _, err = diff(Bare())
    assert code == 3
    assert "Argo Workflows is not installed there: flowdsl doctor says how" in err
