"""Manifests of Argo's own examples, rewritten in the language, mean what they meant."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from flowdsl.compiler.tree import is_list, is_mapping
from tests.corpus import corpus
from tests.corpus.closed import validate_with_crd, validate_with_schema
from tests.corpus.meaning import Leaf, leaves

ROOT = Path(__file__).resolve().parents[2]
OURS = {path.stem: path for path in sorted(ROOT.glob("examples/upstream/*.yaml"))}

#: Which of the examples show a feature of Argo; that it is there is seen in the keys of the upstream file.
FEATURES: dict[str, list[str]] = {
    "container": ["arguments_parameters", "artifact_passing", "artifactory_artifact"],
    "steps": ["artifact_passing", "artifactory_artifact", "coinflip"],
    "dag": ["dag_daemon_retry_strategy", "dag_disable_failFast", "dag_multiroot"],
    "script": ["coinflip", "conditional_parameters", "expression_destructure_json"],
    "resource": ["k8s_jobs"],
    "containerSet": ["sequence_workflow"],
    "templates.http": ["http_hello_world", "input_artifact_http", "life_cycle_hooks_tmpl_level"],
    "suspend": ["cron_workflow", "intermediate_parameters"],
    "data": ["data_transformations", "input_artifact_raw"],
    "plugin": ["workflow_level_executor_plugin"],
    "inline": ["steps_inline_workflow"],
    "inputs.parameters": ["arguments_parameters", "daemon_nginx", "dag_daemon_retry_strategy"],
    "inputs.artifacts": ["artifact_passing", "artifactory_artifact", "data_transformations"],
    "outputs.parameters": ["conditional_parameters", "custom_metrics", "intermediate_parameters"],
    "outputs.artifacts": ["artifact_passing", "artifactory_artifact", "hdfs_artifact"],
    "arguments.parameters": ["arguments_parameters", "daemon_nginx", "dag_daemon_retry_strategy"],
    "arguments.artifacts": ["artifact_passing", "artifactory_artifact", "data_transformations"],
    "outputs.result": ["coinflip", "conditional_parameters", "data_transformations"],
    "globalName": ["custom_metrics"],
    "supplied": ["intermediate_parameters"],
    "enum": ["intermediate_parameters"],
    "depends": ["dag_daemon_retry_strategy", "dag_disable_failFast", "dag_multiroot"],
    "when": ["coinflip", "conditional_parameters", "custom_metrics"],
    "withParam": ["data_transformations", "parallelism_nested", "synchronization_tmpl_level"],
    "withItems": ["loops_maps"],
    "withSequence": ["dag_daemon_retry_strategy"],
    "continueOn": ["http_hello_world", "step_level_timeout"],
    "dependencies": ["sequence_workflow"],
    "target": ["dag_targets"],
    "retryStrategy": ["dag_daemon_retry_strategy", "dag_disable_failFast", "retry_container"],
    "onExit": ["exit_handlers"],
    "hooks": ["life_cycle_hooks_tmpl_level"],
    "timeout": ["step_level_timeout", "template_defaults"],
    "failFast": ["dag_disable_failFast"],
    "parallelism": ["parallelism_nested"],
    "synchronization": [
        "dag_daemon_retry_strategy",
        "synchronization_mutex_wf_level",
        "synchronization_tmpl_level",
    ],
    "mutexes": ["dag_daemon_retry_strategy", "synchronization_mutex_wf_level"],
    "semaphores": ["synchronization_tmpl_level"],
    "metrics": ["custom_metrics"],
    "volumes": ["init_container", "volumes_emptydir", "volumes_existing"],
    "emptyDir": ["init_container", "volumes_emptydir"],
    "volumeClaimTemplates": ["volumes_pvc"],
    "persistentVolumeClaim": ["volumes_existing"],
    "sidecars": ["pod_resources_template_override", "sidecar_nginx"],
    "initContainers": ["init_container"],
    "daemon": ["daemon_nginx", "dag_daemon_retry_strategy"],
    "readinessProbe": ["daemon_nginx", "dag_daemon_retry_strategy"],
    "env": ["expression_destructure_json"],
    "resources": ["resource_claims", "volumes_pvc", "workflow_level_executor_plugin"],
    "nodeSelector": ["hello_windows"],
    "podSpecPatch": ["pod_spec_patch"],
    "podResources": ["pod_resources_template_override"],
    "resourceClaims": ["resource_claims"],
    "securityContext": ["workflow_level_executor_plugin"],
    "podGC": ["pod_gc_strategy"],
    "ttlStrategy": ["gc_ttl"],
    "templateDefaults": ["template_defaults"],
    "templateRef": ["dag"],
    "workflowTemplateRef": ["dag_inline_cronworkflow"],
    "{{=": ["expression_destructure_json"],
    "s3": ["data_transformations", "output_artifact_s3", "input_artifacts"],
    "artifacts.http": ["input_artifact_http"],
    "git": ["input_artifact_git"],
    "raw": ["input_artifact_raw"],
    "gcs": ["input_artifact_gcs"],
    "azure": ["output_artifact_azure"],
    "hdfs": ["hdfs_artifact"],
    "artifactory": ["artifactory_artifact"],
    "CronWorkflow": ["cron_workflow", "dag_inline_cronworkflow"],
    "WorkflowTemplate": ["input_artifacts"],
}

#: Features that no upstream file has which is at hand, or only one that cannot be written, and why.
WITHOUT = {
    "fromExpression": "",
    "backoff": "",
    "activeDeadlineSeconds": "",
    "oss": "",
    "memoize": "fibonacci-seq-conditional-param.yaml calls itself, which the language refuses",
    "ClusterWorkflowTemplate": "clustertemplates.yaml is a library of templates without an entrypoint",
}


def upstream(name: str) -> list[dict[str, Any]]:
    """The documents of the upstream file that an example is named after."""
    files = [one for one in corpus("argo", "examples").rglob("*.yaml") if one.stem.replace("-", "_") == name]
    assert len(files) == 1, f"{name}: {files}"
    return documents(files[0])


def documents(path: Path) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]


def difference(theirs: list[dict[str, Any]], ours: list[dict[str, Any]]) -> str:
    """The parts of leaves that one side has and the other one has not; empty if both mean the same."""
    left = [leaf for document in theirs for leaf in leaves(document)]
    right = [leaf for document in ours for leaf in leaves(document)]
    for leaf in [*left]:
        equal = next((one for one in right if one.digest == leaf.digest), None)
        if equal is not None:
            left.remove(leaf)
            right.remove(equal)
    lines: list[str] = []
    for leaf in [*left]:
        if right:  # the most alike is probably meant to be the same
            other = min(right, key=lambda one: len(parts(leaf, one)))
            left.remove(leaf)
            right.remove(other)
            lines += ["", f"a leaf of upstream: {summary(leaf)}", *parts(leaf, other)]
    lines += [f"only upstream: {summary(leaf)}" for leaf in left]
    lines += [f"only ours: {summary(leaf)}" for leaf in right]
    return "\n".join(lines)


def parts(one: Leaf, other: Leaf) -> list[str]:
    """Where two leaves differ: path, what upstream says, what the example says."""
    return [
        f"  {path}: upstream {json.dumps(left)}, here {json.dumps(right)}"
        for path, left, right in _parts(one.shown, other.shown, "")
    ]


def _parts(one: Any, other: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if is_mapping(one) and is_mapping(other):
        for key in sorted({*one, *other}):
            yield from _parts(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))
    elif is_list(one) and is_list(other) and len(one) == len(other):
        for at, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _parts(left, right, f"{path}[{at}]")
    elif one != other:
        yield path, one, other


def summary(leaf: Leaf) -> str:
    """A leaf in a line."""
    text = json.dumps(leaf.shown.get("body", leaf.shown), default=str)
    return text if len(text) < 200 else f"{text[:200]} ..."


@pytest.mark.parametrize("name", OURS)
def test_it_means_what_upstream_means(name: str) -> None:
    different = difference(upstream(name), documents(OURS[name]))
    assert not different, f"{name} does not mean the same:{different}"


@pytest.mark.parametrize("name", OURS)
def test_argo_accepts_it(name: str) -> None:
    for document in documents(OURS[name]):
        assert [*validate_with_crd(document), *validate_with_schema(document)] == []


def test_there_are_thirty() -> None:
    assert len(OURS) >= 30


# --- features --------------------------------------------------------------------------------------


def entries(part: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All entries of a document with the keys that lead to them."""
    if is_mapping(part):
        for key, value in part.items():
            yield (*path, key), value
            yield from entries(value, (*path, key))
    elif is_list(part):
        for value in part:
            yield from entries(value, path)


def has(document: dict[str, Any], feature: str) -> bool:
    """Whether a document has a feature: a key, several keys that lead to it, its kind, or a text in it."""
    if feature == document.get("kind"):
        return True
    if feature in ("{{=", "outputs.result"):
        return feature in json.dumps(document)
    wanted = tuple(feature.split("."))
    return any(re.search(rf"(^|/){'/(.*/)?'.join(wanted)}$", "/".join(path)) for path, _ in entries(document))


def test_every_feature_is_shown() -> None:
    for feature, names in FEATURES.items():
        assert names, feature
        for name in names:
            assert name in OURS, f"{feature}: there is no {name}"
            assert any(has(one, feature) for one in upstream(name)), f"{name} does not show {feature}"


def test_features_are_left_out_for_a_reason() -> None:
    every = [one for path in corpus("argo", "examples").rglob("*.yaml") for one in documents(path)]
    for feature, reason in WITHOUT.items():
        assert feature not in FEATURES
        assert any(has(one, feature) for one in every) == bool(reason), feature


# --- the comparison --------------------------------------------------------------------------------


def template(document: dict[str, Any], name: str) -> Any:
    return next(one for one in document["spec"]["templates"] if one["name"] == name)


def test_names_and_order_mean_nothing() -> None:
    (ours,) = documents(OURS["dag_multiroot"])
    renamed = json.loads(json.dumps(ours).replace("echo", "print-text").replace("dag-multiroot", "main"))
    renamed["spec"]["templates"].reverse()
    assert not difference([ours], [json.loads(json.dumps(renamed).replace('"print-text"]', '"echo"]'))])


CHANGES: list[tuple[str, list[str | int], Any]] = [
    ("arguments_parameters", ["spec", "arguments", "parameters", 0, "value"], "hello"),
    ("arguments_parameters", ["spec", "templates", 1, "container", "image"], "alpine"),
    ("arguments_parameters", ["spec", "templates", 1, "container", "args", 0], "hello"),
    ("artifact_passing", ["spec", "templates", 1, "outputs", "artifacts", 0, "path"], "/tmp/other"),
    ("artifact_passing", ["spec", "templates", 2, "inputs", "artifacts", 0, "path"], "/tmp/other"),
    (
        "coinflip",
        ["spec", "templates", 0, "dag", "tasks", 1, "when"],
        "{{tasks.coin.outputs.result}} == tails",
    ),
    ("coinflip", ["spec", "templates", 0, "dag", "tasks", 1, "template"], "tails"),
    ("coinflip", ["spec", "templates", 1, "script", "source"], "print(1)"),
    ("custom_metrics", ["spec", "templates", 0, "metrics", "prometheus", 0, "help"], "other"),
    ("dag_disable_failFast", ["spec", "templates", 0, "dag", "failFast"], True),
    ("dag_multiroot", ["spec", "templates", 0, "dag", "tasks", 3, "depends"], "a"),
    ("dag_multiroot", ["spec", "templates", 0, "dag", "tasks", 3, "depends"], "a || b"),
    ("data_transformations", ["spec", "templates", 1, "dag", "tasks", 0, "withParam"], "[]"),
    ("exit_handlers", ["spec", "templates", 1, "dag", "tasks", 2, "when"], "{{workflow.status}} == Error"),
    ("intermediate_parameters", ["spec", "templates", 1, "inputs", "parameters", 0, "enum"], ["YES"]),
    ("retry_container", ["spec", "templates", 1, "retryStrategy", "limit"], 3),
    ("retry_container", ["spec", "templates", 1, "retryStrategy", "retryPolicy"], "Always"),
    ("volumes_existing", ["spec", "templates", 1, "container", "volumeMounts", 0, "mountPath"], "/mnt"),
    ("volumes_pvc", ["spec", "volumeClaimTemplates", 0, "spec", "resources", "requests", "storage"], "2Gi"),
]


@pytest.mark.parametrize(
    ("name", "path", "value"), CHANGES, ids=lambda one: one if isinstance(one, str) else ""
)
def test_a_change_is_seen(name: str, path: list[str | int], value: object) -> None:
    (ours,) = documents(OURS[name])
    changed = copy.deepcopy(ours)
    holder: Any = changed
    for key in path[:-1]:
        holder = holder[key]
    assert holder[path[-1]] != value
    holder[path[-1]] = value
    assert difference([ours], [changed])
