"""What a workflow needs of a cluster, and what is said about what is not there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from flowdsl.runtime.cluster.kinds import ACCOUNT, CLAIM, CONFIG_MAP, NODE, SECRET, TEMPLATE
from flowdsl.runtime.cluster.trouble import Refusal, Unreachable
from flowdsl.runtime.needs import missing, needs
from tests.standing import Standing, thing

if TYPE_CHECKING:
    from flowdsl.runtime.cluster.seam import Kind

Json = dict[str, Any]


def workflow(spec: str, kind: str = "Workflow", **metadata: str) -> Json:
    found: Json = {"kind": kind, "metadata": {"name": "run", **metadata}, "spec": yaml.safe_load(spec)}
    return found


ONE = """
entrypoint: main
serviceAccountName: trainer
podPriorityClassName: high
imagePullSecrets: [{name: registry}]
volumes:
- {name: data, persistentVolumeClaim: {claimName: datasets}}
- {name: unused, persistentVolumeClaim: {claimName: never}}
- {name: maybe, secret: {secretName: maybe, optional: true}}
volumeClaimTemplates:
- {metadata: {name: scratch}, spec: {storageClassName: fast}}
templates:
- name: main
  dag:
    tasks:
    - {name: model, template: train}
    - {name: report, template: publish}
    - {name: shared, templateRef: {name: library, template: audit}}
- name: train
  container:
    image: train
    env:
    - {name: TOKEN, valueFrom: {secretKeyRef: {name: hub, key: token}}}
    - {name: SOFT, valueFrom: {secretKeyRef: {name: gone, key: x, optional: true}}}
    - {name: LATE, valueFrom: {secretKeyRef: {name: "{{workflow.name}}", key: x}}}
    envFrom: [{configMapRef: {name: settings}}]
    volumeMounts: [{name: data, mountPath: /d}, {name: maybe, mountPath: /m}]
- name: publish
  serviceAccountName: publisher
  inputs:
    artifacts:
    - name: in
      path: /in
      s3: {key: a, accessKeySecret: {name: store, key: id}, secretKeySecret: {name: store, key: word}}
    parameters:
    - {name: url, valueFrom: {configMapKeyRef: {name: urls, key: hub}}}
    - {name: other, valueFrom: {default: x, configMapKeyRef: {name: unread, key: hub}}}
  script:
    image: publish
    source: x
    env: [{name: WORD, valueFrom: {secretKeyRef: {name: hub, key: word}}}]
- name: nobody
  serviceAccountName: nobody
  container: {image: nobody}
"""


def test_the_objects_of_the_steps_that_are_reached() -> None:
    found = {(one.kind.name, one.name): (one.keys, one.steps, bool(one.soft)) for one in needs(workflow(ONE))}
    assert found == {
        ("ServiceAccount", "trainer"): ((), (), False),
        ("PriorityClass", "high"): ((), (), False),
        ("Secret", "registry"): ((), (), True),
        ("StorageClass", "fast"): ((), (), True),
        ("WorkflowTemplate", "library"): (("audit",), ("shared",), False),
        ("Secret", "hub"): (("token", "word"), ("model", "report"), False),
        ("ConfigMap", "settings"): ((), ("model",), False),
        ("PersistentVolumeClaim", "datasets"): ((), ("model",), False),
        ("ServiceAccount", "publisher"): ((), ("report",), False),
        ("Secret", "store"): (("id", "word"), ("report",), False),
        ("ConfigMap", "urls"): (("hub",), ("report",), False),
    }


@pytest.mark.parametrize(
    ("spec", "kind", "name"),
    [
        ("spec: {secretName: x}", SECRET, None),
        ("synchronization: {semaphores: [{configMapKeyRef: {name: lanes, key: a}}]}", CONFIG_MAP, "lanes"),
        ("executor: {serviceAccountName: runner}", ACCOUNT, "runner"),
        ("artifactRepositoryRef: {key: big}", CONFIG_MAP, "artifact-repositories"),
        ("workflowTemplateRef: {name: base}", TEMPLATE, "base"),
        ("archiveLocation: {gcs: {serviceAccountKeySecret: {name: cloud, key: json}}}", SECRET, "cloud"),
        (
            'podSpecPatch: "volumes: [{name: x, persistentVolumeClaim: {claimName: patched}}]"',
            CLAIM,
            "patched",
        ),
        ('podSpecPatch: "containers: [{name: {{a}} "', CLAIM, None),
        ("arguments: {parameters: [{name: a, value: {secretRef: {name: x}}}]}", SECRET, None),
    ],
)
def test_fields_that_name_objects(spec: str, kind: Kind, name: str | None) -> None:
    found = [one.name for one in needs(workflow(spec)) if one.kind is kind]
    assert found == ([] if name is None else [name])


def test_a_template_is_looked_into_whoever_has_it() -> None:
    run = workflow("workflowTemplateRef: {name: base}")
    base = workflow(ONE, "WorkflowTemplate", name="base")
    names = {one.name for one in needs(run, [base])}
    assert {"trainer", "hub", "library"} <= names
    assert "base" not in names
    alone = workflow(
        "templates: [{name: a, serviceAccountName: x, container: {image: y}}]", "WorkflowTemplate"
    )
    assert [one.name for one in needs(alone)] == ["x"]
    cron = workflow(f"workflowSpec: {{{'entrypoint: a, serviceAccountName: z'}}}", "CronWorkflow")
    assert [one.name for one in needs(cron)] == ["z"]


WHOLE = [
    thing("ServiceAccount", "trainer"),
    thing("ServiceAccount", "publisher"),
    thing("PriorityClass", "high"),
    thing("Secret", "registry"),
    thing("StorageClass", "fast"),
    thing("Secret", "hub", data={"token": "", "word": ""}),
    thing("Secret", "store", data={"id": "", "word": ""}),
    thing("ConfigMap", "settings"),
    thing("ConfigMap", "urls", data={"hub": "x"}),
    thing("PersistentVolumeClaim", "datasets", status={"phase": "Bound"}),
    thing(
        "WorkflowTemplate",
        "library",
        spec={"templates": [{"name": "audit", "container": {"image": "x"}}]},
    ),
]


def without(*names: str) -> list[Json]:
    return [one for one in WHOLE if one["metadata"]["name"] not in names]


def said(cluster: Standing, run: Json) -> list[str]:
    return [f"{one.weight}: {one}" for one in missing(cluster, run)]


def test_nothing_is_said_where_all_is_there() -> None:
    assert said(Standing(WHOLE), workflow(ONE)) == []


def test_what_is_not_there_is_named_with_who_wants_it_and_the_command_that_makes_it() -> None:
    assert said(Standing(), workflow(ONE)) == [
        (
            "problem: there is no WorkflowTemplate `library` in namespace `ml`, which the step `shared` needs; "
            "apply it first: kubectl apply -n ml -f FILE"
        ),
        (
            "problem: there is no ServiceAccount `trainer` in namespace `ml`, which the workflow needs; "
            "kubectl create serviceaccount trainer -n ml"
        ),
        (
            "problem: there is no PriorityClass `high`, which the workflow needs; "
            "kubectl create priorityclass high --value=1000"
        ),
        (
            "note: there is no Secret `registry` in namespace `ml`, which the workflow needs "
            "(images that need no login are pulled); kubectl create secret generic registry -n ml"
        ),
        (
            "note: there is no StorageClass `fast`, which the workflow needs "
            "(a volume of that class may have been made by hand); "
            "kubectl get storageclasses.storage.k8s.io shows what there is"
        ),
        (
            "problem: there is no Secret `hub` in namespace `ml`, which the steps `model`, `report` need; "
            "kubectl create secret generic hub -n ml --from-literal=token=VALUE --from-literal=word=VALUE"
        ),
        (
            "problem: there is no ConfigMap `settings` in namespace `ml`, which the step `model` needs; "
            "kubectl create configmap settings -n ml"
        ),
        (
            "problem: there is no PersistentVolumeClaim `datasets` in namespace `ml`, which the step `model` needs; "
            "kubectl get persistentvolumeclaims -n ml shows what there is"
        ),
        (
            "problem: there is no ServiceAccount `publisher` in namespace `ml`, which the step `report` needs; "
            "kubectl create serviceaccount publisher -n ml"
        ),
        (
            "problem: there is no Secret `store` in namespace `ml`, which the step `report` needs; "
            "kubectl create secret generic store -n ml --from-literal=id=VALUE --from-literal=word=VALUE"
        ),
        (
            "problem: there is no ConfigMap `urls` in namespace `ml`, which the step `report` needs; "
            "kubectl create configmap urls -n ml --from-literal=hub=VALUE"
        ),
    ]


def test_keys_and_templates_that_an_object_lacks() -> None:
    objects = [
        *without("hub", "library", "datasets"),
        thing("Secret", "hub", data={"token": ""}),
        thing("WorkflowTemplate", "library", spec={"templates": [{"name": "other"}]}),
        thing("PersistentVolumeClaim", "datasets", status={"phase": "Lost"}),
    ]
    assert said(Standing(objects), workflow(ONE)) == [
        (
            "problem: the WorkflowTemplate `library` in namespace `ml` has no template `audit`, "
            "which the step `shared` needs; it has other; kubectl edit workflowtemplates.argoproj.io library -n ml"
        ),
        (
            "problem: the Secret `hub` in namespace `ml` has no key `word`, which the steps `model`, `report` need; "
            "kubectl edit secrets hub -n ml"
        ),
        (
            "problem: the volume of PersistentVolumeClaim `datasets` in namespace `ml` is lost, "
            "which the step `model` needs; kubectl describe pvc datasets -n ml"
        ),
    ]


def test_what_may_not_be_read_is_not_held_against_the_run() -> None:
    cluster = Standing(without("hub"), forbidden=["get secrets", "list resourcequotas"])
    found = missing(cluster, workflow(ONE))
    assert {one.weight for one in found} == {"unchecked"}
    assert str(found[1]) == (
        "whether there is a Secret `hub` in namespace `ml` could not be read, "
        "which the steps `model`, `report` need; kubectl auth can-i get secrets -n ml"
    )
    assert found[-1].text == "the quotas of namespace `ml` may not be read"


def test_templates_of_the_cluster_are_looked_into() -> None:
    library = thing(
        "WorkflowTemplate",
        "library",
        spec={
            "templates": [
                {
                    "name": "audit",
                    "container": {"image": "x", "envFrom": [{"secretRef": {"name": "deep"}}]},
                }
            ]
        },
    )
    assert [one.text for one in missing(Standing([*without("library"), library]), workflow(ONE))] == [
        "there is no Secret `deep` in namespace `ml`, which the step `shared` needs"
    ]


def test_the_namespace_is_that_of_the_workflow_and_of_a_semaphore() -> None:
    spec = (
        "{entrypoint: a, serviceAccountName: s, synchronization: {semaphores: "
        "[{namespace: locks, configMapKeyRef: {name: lanes, key: a}}]}}"
    )
    found = missing(Standing([thing("ServiceAccount", "s")]), workflow(spec, namespace="team"))
    assert [one.text for one in found] == [
        "there is no ServiceAccount `s` in namespace `team`, which the workflow needs",
        "there is no ConfigMap `lanes` in namespace `locks`, which the workflow needs",
    ]


def test_kinds_of_manifests() -> None:
    spec = """
entrypoint: a
templates:
- name: a
  resource:
    action: create
    manifest: |
      apiVersion: kubeflow.org/v1
      kind: {}
      metadata: {{name: "{{{{workflow.name}}}}"}}
"""
    served = {"kubeflow.org/v1": ["PyTorchJob"], "argoproj.io/v1alpha1": ["Workflow"]}
    assert said(Standing(served=served), workflow(spec.format("PyTorchJob"))) == []
    assert said(Standing(served=served), workflow(spec.format("MPIJob"))) == [
        (
            "problem: the cluster has no `MPIJob` of `kubeflow.org/v1`, which the step `a` needs; "
            "install what defines it: kubectl api-resources shows what there is"
        )
    ]
    assert len(said(Standing(), workflow(spec.format("PyTorchJob")))) == 1
    assert said(Standing(), workflow(spec.format('"{{inputs.parameters.kind}}"'))) == []


@pytest.mark.parametrize("kind", ["TrainingRuntime", "JobSet"])
def test_the_pods_of_an_object_want_what_they_name_wherever_they_stand(kind: str) -> None:
    pod = {"containers": [{"name": "node", "envFrom": [{"secretRef": {"name": "hub"}}]}]}
    jobs = {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}]}
    body = {"template": {"spec": jobs}} if kind == "TrainingRuntime" else jobs
    manifest = json.dumps({"apiVersion": "x/v1", "kind": kind, "metadata": {"name": "a"}, "spec": body})
    resource = {"action": "apply", "manifest": manifest}
    spec = {"entrypoint": "a", "templates": [{"name": "a", "resource": resource}]}
    (found,) = missing(Standing(served={"x/v1": [kind]}), workflow(json.dumps(spec)))
    assert found.text == "there is no Secret `hub` in namespace `ml`, which the step `a` needs"


CONDITIONAL = """
entrypoint: main
onExit: tidy
templates:
- name: main
  dag:
    tasks:
    - {name: first, template: first}
    - {name: maybe, template: maybe, when: "{{workflow.parameters.x}} == 1"}
    - {name: after, template: after, depends: first.Failed}
    - {name: behind, template: behind, depends: after}
    - {name: loop, template: first, withItems: [1, 2]}
    - {name: lost, template: lost, depends: loop.AllFailed}
    - {name: either, template: either, depends: loop.AnySucceeded || first.Failed}
    - {name: listed, template: listed, dependencies: [first]}
    - name: inside
      inline:
        steps: [[{name: deep, template: deep, when: "1 == 2"}, {name: sure, template: sure}]]
      hooks: {told: {template: told, expression: "true"}}
- {name: first, serviceAccountName: first, container: {image: x}}
- {name: maybe, serviceAccountName: maybe, container: {image: x, resources: {limits: {nvidia.com/gpu: 9}}}}
- {name: after, serviceAccountName: after, container: {image: x}}
- {name: behind, serviceAccountName: behind, container: {image: x}}
- {name: lost, serviceAccountName: lost, container: {image: x}}
- {name: either, serviceAccountName: either, container: {image: x}}
- {name: listed, serviceAccountName: listed, container: {image: x}}
- {name: deep, serviceAccountName: deep, container: {image: x}}
- {name: sure, serviceAccountName: sure, container: {image: x}}
- {name: told, serviceAccountName: told, container: {image: x}}
- {name: tidy, serviceAccountName: tidy, container: {image: x}}
"""


def test_what_a_step_wants_that_may_not_run_is_a_note() -> None:
    found = {one.name: bool(one.soft) for one in needs(workflow(CONDITIONAL))}
    assert found == {
        **dict.fromkeys(("first", "tidy", "sure", "either", "listed"), False),
        **dict.fromkeys(("maybe", "after", "behind", "lost", "deep", "told"), True),
    }
    quota = thing("ResourceQuota", "q", spec={"hard": {"requests.nvidia.com/gpu": "2"}})
    found_ = {one.text.split()[0]: one.weight for one in missing(Standing([quota]), workflow(CONDITIONAL))}
    assert found_["ResourceQuota"] == "note"


def test_what_a_step_makes_itself_is_not_missing() -> None:
    spec = """
entrypoint: main
volumes: [{{name: data, persistentVolumeClaim: {{claimName: made-here}}}}]
templates:
- name: main
  steps:
  - [{{name: claim, template: claim}}]
  - [{{name: use, template: use}}]
- name: claim
  resource:
    action: {}
    manifest: "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {}}}}}"
- name: use
  container: {{image: x, volumeMounts: [{{name: data, mountPath: /d}}]}}
"""
    cluster = Standing(served={"v1": ["PersistentVolumeClaim"]})
    assert said(cluster, workflow(spec.format("create", "made-here"))) == []
    (found,) = said(cluster, workflow(spec.format("create", "other")))
    assert found.startswith("problem: there is no PersistentVolumeClaim `made-here` in namespace `ml`, which")
    (found,) = said(cluster, workflow(spec.format("get", "made-here")))
    assert found.startswith("problem: ")
    (found,) = said(cluster, workflow(spec.format("apply", "'{{{{workflow.parameters.x}}}}'")))
    assert found.startswith(
        "note: there is no PersistentVolumeClaim `made-here` in namespace `ml`, which the step "
    )
    assert "(a step makes such an object itself)" in found


GPU = """
entrypoint: main
templates:
- name: main
  nodeSelector: {disk: ssd}
  tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - {key: nvidia.com/gpu.memory, operator: Gt, values: ["40000"]}
          - {key: zone, operator: NotIn, values: [far]}
        - matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [H100]}]
  container: {image: x, resources: {limits: {nvidia.com/gpu: 4, memory: 8Gi}}}
  sidecars: [{name: s, image: y, resources: {requests: {memory: 2Gi}}}]
"""


def node(labels: Json, gpus: str = "8", taints: list[Json] | None = None) -> Json:
    return thing(
        "Node",
        "n",
        metadata={"labels": labels},
        spec={"taints": taints or []},
        status={"allocatable": {"nvidia.com/gpu": gpus}},
    )


BIG = {"disk": "ssd", "nvidia.com/gpu.memory": "81920"}
TAINTS = [
    {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
]


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        ([node(BIG, taints=TAINTS)], None),
        ([node({"disk": "ssd", "nvidia.com/gpu.product": "H100"})], None),
        ([], "no node has the labels `disk=ssd` and"),
        ([node({**BIG, "zone": "far"})], "no node has the labels `disk=ssd` and"),
        ([node({**BIG, "nvidia.com/gpu.memory": "30000"})], "no node has the labels"),
        ([node(BIG, "2"), node({})], "no node with the labels has 4 of `nvidia.com/gpu` (the most is 2), "),
        ([node(BIG, "2")], "no node has 4 of `nvidia.com/gpu` (the most is 2), which the step `main` needs"),
        (
            [node(BIG, taints=[{"key": "team", "value": "b", "effect": "NoSchedule"}])],
            "all nodes that fit have a taint like `team=b:NoSchedule`, which is not tolerated",
        ),
    ],
)
def test_nodes_that_there_are_not_are_a_note(nodes: list[Json], text: str | None) -> None:
    found = missing(Standing(nodes), workflow(GPU))
    assert [one.weight for one in found] == ([] if text is None else ["note"])
    assert text is None or found[0].text.startswith(text)


JOB = """
entrypoint: main
templates:
- name: main
  resource:
    action: {}
    manifest: |
      apiVersion: batch/v1
      kind: Job
      metadata: {{name: "{{{{workflow.name}}}}"}}
      spec:
        template:
          spec:
            serviceAccountName: trainer
            nodeSelector: {{disk: ssd}}
            containers:
            - image: x
              env:
              - {{name: TOKEN, valueFrom: {{secretKeyRef: {{name: hub, key: token}}}}}}
              - {{name: LATE, valueFrom: {{secretKeyRef: {{name: "{{{{workflow.name}}}}", key: x}}}}}}
              resources: {{limits: {{nvidia.com/gpu: {}}}}}
            volumes:
            - {{name: data, persistentVolumeClaim: {{claimName: datasets}}}}
            - {{name: own, persistentVolumeClaim: {{claimName: "{{{{workflow.name}}}}-own"}}}}
"""


def test_the_pods_of_a_job_are_looked_into() -> None:
    served = {"batch/v1": ["Job"]}
    there = [thing("ServiceAccount", "trainer"), thing("PersistentVolumeClaim", "datasets"), node(BIG, "2")]
    hub = thing("Secret", "hub", data={"token": ""})
    asked = workflow(JOB.format("apply", 2))
    assert said(Standing([*there, hub], served=served), asked) == []
    (found,) = said(Standing(there, served=served), asked)
    assert found.startswith(
        "problem: there is no Secret `hub` in namespace `ml`, which the step `main` needs"
    )
    (found,) = said(Standing([*there, hub], served=served), workflow(JOB.format("apply", 4)))
    assert "has 4 of `nvidia.com/gpu` (the most is 2), which the step `main` needs" in found
    assert said(Standing([node(BIG)], served=served), workflow(JOB.format("delete", 4))) == []
    late = workflow(JOB.format("apply", "'{{workflow.parameters.cards}}'"))
    assert said(Standing([*there, hub], served=served), late) == []


def test_nodes_that_may_not_be_read() -> None:
    found = missing(Standing(forbidden=["list nodes"]), workflow(GPU))
    assert [str(one) for one in found] == ["the nodes may not be read; kubectl auth can-i list nodes"]
    assert "list nodes" not in Standing(WHOLE).asked
    plain = Standing(WHOLE)
    missing(plain, workflow(ONE))
    assert f"list {NODE.plural}" not in plain.asked


@pytest.mark.parametrize(
    ("hard", "used", "text"),
    [
        ({"requests.nvidia.com/gpu": "4", "pods": "1", "requests.memory": "10Gi"}, {}, None),
        (
            {"requests.nvidia.com/gpu": "2"},
            {},
            "allows 2 of `requests.nvidia.com/gpu` in all, less than the 4 which the step `main` needs",
        ),
        (
            {"memory": "9Gi"},
            {},
            "allows 9Gi of `memory` in all, less than the 10Gi which the step `main` needs",
        ),
        ({"limits.memory": "8Gi"}, {}, None),
        ({"pods": "0"}, {}, "allows no pod"),
        ({"count/workflows.argoproj.io": "3"}, {"count/workflows.argoproj.io": "2"}, None),
        (
            {"count/workflows.argoproj.io": "3"},
            {"count/workflows.argoproj.io": "3"},
            "allows 3 Workflows, and that many are there",
        ),
        ({"count/workflows.argoproj.io": "0"}, {}, "allows 0 Workflows, and that many are there"),
    ],
)
def test_quotas_that_no_pod_fits(hard: Json, used: Json, text: str | None) -> None:
    quota = thing("ResourceQuota", "q", spec={"hard": hard}, status={"used": used})
    found = missing(Standing([node(BIG), quota]), workflow(GPU))
    begin = "ResourceQuota `q` of namespace `ml` "
    assert [one.text for one in found] == ([] if text is None else [begin + text])
    quota["spec"]["scopes"] = ["BestEffort"]
    assert missing(Standing([node(BIG), quota]), workflow(GPU)) == []


def test_any_other_answer_is_an_error() -> None:
    class Broken(Standing):
        def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json:
            raise Unreachable("away", sent=False)

    with pytest.raises(Unreachable):
        missing(Broken(), workflow(ONE))

    class Wrong(Standing):
        def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json:
            raise Refusal(401, {}, "get", kind, name, "ml")

    with pytest.raises(Refusal):
        missing(Wrong(), workflow(ONE))
