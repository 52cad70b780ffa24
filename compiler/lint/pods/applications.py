"""RayJobs and SparkApplications in `resource` templates: what the API server and their operators reject.

Their manifests are read with types, and tags are words.
Source: KubeRay 1.4, ray-operator/apis and ValidateRayJobSpec; Kubeflow Spark Operator 2.1, api/v1beta2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.pods.untyped import WORD, Lacking, counts, misspelt, one_of, strings, texts
from flowdsl.compiler.schema.findings import arrived
from flowdsl.compiler.tree import is_list, is_mapping, mapping_at, mappings_at, value_at
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.pods.untyped import Flaw
    from flowdsl.compiler.tree import Object


def ray(body: Object) -> Iterator[Flaw]:
    """What is invalid in a RayJob or RayCluster."""
    spec = body.get("spec")
    if not is_mapping(spec):
        return
    if body["kind"] == "RayCluster":
        yield from _ray_cluster(spec, "the RayCluster")
        return
    what = "the RayJob"
    yield from counts(spec, what, ("activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"))
    cluster = spec.get("rayClusterSpec")
    if cluster is None and not spec.get("clusterSelector"):
        way = "add `rayClusterSpec`, with the pods of a cluster, or `clusterSelector`"
        yield Lacking(f"{what} has no `rayClusterSpec`", way)
    if is_mapping(cluster):
        yield from _ray_cluster(cluster, f"`rayClusterSpec` of {what}")


def _ray_cluster(cluster: Object, what: str) -> Iterator[Flaw]:
    """The groups of pods of a Ray cluster."""
    head = cluster.get("headGroupSpec")
    if head is None:
        yield Lacking(f"{what} has no `headGroupSpec`", "add it, with the `template` of its pod")
    if is_mapping(head):
        yield from _ray_group(head, "`headGroupSpec`")
    for each in mappings_at(cluster, "workerGroupSpecs"):
        name = each.get("groupName")
        group = f"the group `{name}` of `workerGroupSpecs`" if name else "a group of `workerGroupSpecs`"
        if not name:
            yield f"{group} has no `groupName`", "add one, which differs from those of the others"
        yield from counts(each, group, ("maxReplicas", "minReplicas", "numOfHosts", "replicas"))
        yield from _ray_group(each, group)


def _ray_group(group: Object, what: str) -> Iterator[Flaw]:
    """The pods of a group."""
    template = group.get("template")
    if template != WORD and value_at(template, ("spec",)) is None:
        yield Lacking(f"{what} has no `template.spec`", "add it, with the container in which Ray runs")


def pods(body: Object) -> Iterator[tuple[str, Object]]:
    """The pods of a RayJob or RayCluster, each with its owner in words."""
    spec = mapping_at(body, "spec")
    cluster = spec if body["kind"] == "RayCluster" else mapping_at(spec, "rayClusterSpec")
    groups: list[tuple[str, Any]] = [("`headGroupSpec`", cluster.get("headGroupSpec"))]
    groups += [
        (f"the group `{each.get('groupName')}`", each) for each in mappings_at(cluster, "workerGroupSpecs")
    ]
    for owner, group in groups:
        if is_mapping(pod := value_at(group, ("template", "spec"))):
            yield owner, pod


_NEEDED = {
    "type": "Python",
    "sparkVersion": "3.5.0",
    "mainApplicationFile": "local:///opt/app.py",
    "driver": "{cores: 1, memory: 512m}",
    "executor": "{instances: 1, cores: 1, memory: 512m}",
}
_SPARK = (
    *("arguments", "batchScheduler", "batchSchedulerOptions", "deps", "driver", "driverIngressOptions"),
    *("dynamicAllocation", "executor", "failureRetries", "hadoopConf", "hadoopConfigMap", "image"),
    *("imagePullPolicy", "imagePullSecrets", "mainApplicationFile", "mainClass", "memoryOverheadFactor"),
    *("mode", "monitoring", "nodeSelector", "proxyUser", "pythonVersion", "restartPolicy", "retryInterval"),
    *("sparkConf", "sparkConfigMap", "sparkUIOptions", "sparkVersion", "suspend", "timeToLiveSeconds"),
    *("type", "volumes"),
)
_SIZE = regex(r"\s*\d+\s*(?:b|[kmgtp]b?)?\s*")
"""An amount of memory as Spark reads it, in lower case. Source: Apache Spark, JavaUtils.byteStringAs."""


def spark(body: Object) -> Iterator[Flaw]:
    """What is invalid in a SparkApplication."""
    spec, what = body.get("spec"), "the SparkApplication"
    if not is_mapping(spec):
        return
    yield from misspelt(spec, what, _SPARK)
    # spark-submit takes the first argument for the file, if there is none.
    given = {**spec, "mainApplicationFile": spec.get("mainApplicationFile") or spec.get("arguments")}
    for field, example in _NEEDED.items():
        if given.get(field) is None:
            yield Lacking(f"{what} has no `{field}`", f"add `{field}: {example}`, or what it is")
    yield from texts(
        spec, what, ("image", "mainApplicationFile", "mainClass", "pythonVersion", "sparkVersion")
    )
    yield from one_of(spec, "type", what, ("Java", "Python", "R", "Scala"))
    yield from one_of(spec, "mode", what, ("cluster", "client"))
    yield from one_of(spec, "pythonVersion", what, ("2", "3"))
    if (restarts := spec.get("restartPolicy")) is not None and restarts != WORD:
        if not is_mapping(restarts):
            found = f"`restartPolicy` of {what} is {arrived(restarts)}, not a mapping"
            yield found, "write `restartPolicy: {type: Never}`"
        else:
            known = ("Never", "OnFailure", "Always")
            yield from one_of(restarts, "type", f"`restartPolicy` of {what}", known)
    arguments = spec.get("arguments")
    if isinstance(arguments, str) and WORD not in arguments:
        yield f"`arguments` of {what} is {arrived(arguments)}, not a list", "write a list of texts"
    for each in arguments if is_list(arguments) else ():
        if not isinstance(each, str):
            yield f"an argument of {what} is {arrived(each)}, not text", "put it in quotes"
    for field in ("sparkConf", "hadoopConf"):
        yield from strings(spec.get(field), f"`{field}` of {what}")
    for role in ("driver", "executor"):
        if is_mapping(part := spec.get(role)):
            yield from _spark_pod(part, f"the {role} of {what}")


def _spark_pod(part: Object, what: str) -> Iterator[Flaw]:
    """The driver or the executors of a SparkApplication."""
    yield from counts(part, what, ("cores", "instances"))
    for field in ("cores", "instances"):
        if part.get(field) == 0 and part[field] is not False:
            yield f"`{field}` of {what} is 0", "write a whole number from 1"
    yield from texts(part, what, ("coreLimit", "coreRequest", "image", "memory", "memoryOverhead"))
    memory = part.get("memory")
    if isinstance(memory, str) and WORD not in memory and not _SIZE.fullmatch(memory.lower()):
        way = "write it as Spark does, as in `512m` or `4g`"
        yield f"`memory` of {what} cannot be `{memory}`", way
