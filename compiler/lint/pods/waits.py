"""Waits for the objects of `resource` templates: their success and failure conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.kinds import FailureAlone, HoldsOfNothing
from flowdsl.compiler.jobs import TRAININGS, asks_for_end
from flowdsl.compiler.kinds import MAKING
from flowdsl.compiler.lint.pods.trainings import roles
from flowdsl.compiler.lint.pods.untyped import documents_in
from flowdsl.compiler.lint.variables.typing_findings import NeverEqual, NeverSucceeds
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import is_mapping, mapping_at, string
from flowdsl.diagnostic import Finding, near, suggest
from flowdsl.grammar.condition import conditions, true_of_new
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.jobs import Training
    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object
    from flowdsl.grammar.condition import Requirement


class BadObjectCondition(Finding):
    """A condition on an object that Argo cannot read."""

    code = "FD593"
    title = "`{field}` cannot be read: expected {expected}, found {found}"
    label = "expected {expected}"
    help = "compare paths with words and whole numbers: `status.succeeded == 4, status.phase in (Done, Ok)`"
    field: str
    expected: str
    found: str


class NeverFails(Finding):
    """A wait for an object to succeed that does not end when it fails."""

    code = "FD857"
    severity = "warning"
    title = "if the {kind} fails, this waits forever"
    label = "no {field}"
    help = "add {field}, such as `{failed}`, or a `timeout`"
    kind: str
    failed: str
    field: str = "`failureCondition`"


class UnseenEnd(Finding):
    """A wait for the replicas of a training, which do not show that it has ended."""

    code = "FD876"
    severity = "warning"
    title = "when `{limit}` ends the {kind}, this waits forever"
    label = "the operator counts no replica as failed then"
    help = "add a `timeout` to the template, which ends the wait, or leave `{limit}` out"
    limit: str
    kind: str


def object_conditions(view: View) -> Iterator[Problem]:
    """The conditions of a `resource` template are valid and can become true: Argo checks existing objects."""
    for template in view.templates:
        resource: Object = template.data.get("resource") or {}
        for field in _FIELDS:
            text = string(resource, field)
            if not text or "{{" in text:
                continue
            path = (*template.path, "resource", field)
            try:
                asked = conditions(text)
            except GrammarError as error:
                finding = BadObjectCondition(field, error.expected, error.shown)
                yield Problem(path, finding, part=(error.start, error.end))
                continue
            kind, status, body = _awaited(string(resource, "manifest"))
            if status is None:
                continue
            succeeds = field == "successCondition"
            usual = status.done if succeeds else status.failed
            for one in asked:
                if (why := _never(one, kind, status, body, usual)) is not None:
                    shown = text[one.start : one.end]
                    never = (
                        NeverSucceeds("wait", shown, *why) if succeeds else NeverEqual(shown, "false", *why)
                    )
                    yield Problem(path, never, part=(one.start, one.end))


class _Status(NamedTuple):
    """The status of a kind of object that templates usually wait for.

    `versions` begins like the API versions that have it, `words` are those of its fields with one of a few words,
    `fields` are all of them. `done` and `failed` are conditions for the ends of an object, if it has no phases and if
    it may fail: `{}` is its backoff limit.
    """

    versions: re.Pattern[str]
    words: Mapping[str, tuple[str, ...]] = {}
    fields: tuple[str, ...] = ()
    done: str = ""
    failed: str = ""


_APPS = regex(r"apps/")
_TRAINING = regex(r"kubeflow\.org/v(?!.*alpha)")  # the first versions had phases
_OF_SETS = (
    *("availableReplicas", "collisionCount", "conditions", "observedGeneration", "readyReplicas", "replicas"),
    "updatedReplicas",
)
_OF_JOBS = (
    *(
        "active",
        "completedIndexes",
        "completionTime",
        "conditions",
        "failed",
        "failedIndexes",
        "ready",
        "startTime",
    ),
    *("succeeded", "terminating", "uncountedTerminatedPods"),
)
_OF_TRAININGS = ("completionTime", "conditions", "lastReconcileTime", "replicaStatuses", "startTime")
_STATUSES = {
    "DaemonSet": _Status(
        _APPS,
        fields=(
            *("collisionCount", "conditions", "currentNumberScheduled", "desiredNumberScheduled"),
            *("numberAvailable", "numberMisscheduled", "numberReady", "numberUnavailable"),
            *("observedGeneration", "updatedNumberScheduled"),
        ),
        done="status.numberReady > 0",
    ),
    "Deployment": _Status(
        _APPS,
        fields=(*_OF_SETS, "terminatingReplicas", "unavailableReplicas"),
        done="status.readyReplicas > 0",
    ),
    "Job": _Status(
        regex(r"batch/"), fields=_OF_JOBS, done="status.succeeded > 0", failed="status.failed > {}"
    ),
    "JobSet": _Status(
        regex(r"jobset\.x-k8s\.io/"),
        {"terminalState": ("Completed", "Failed")},
        ("conditions", "replicatedJobsStatus", "restarts", "restartsCountTowardsMax", "terminalState"),
        "status.terminalState == Completed",
        "status.terminalState == Failed",
    ),
    "MPIJob": _Status(
        _TRAINING,
        fields=_OF_TRAININGS,
        done="status.replicaStatuses.Launcher.succeeded > 0",
    ),
    "PersistentVolumeClaim": _Status(regex(r"v1"), {"phase": ("Pending", "Bound", "Lost")}),
    "Pod": _Status(
        regex(r"v1"),
        {"phase": ("Pending", "Running", "Succeeded", "Failed", "Unknown")},
        failed="status.phase == Failed",
    ),
    "PyTorchJob": _Status(
        _TRAINING,
        fields=_OF_TRAININGS,
        done="status.replicaStatuses.Master.succeeded > 0",
    ),
    "RayJob": _Status(
        regex(r"ray\.io/v1$"),
        {
            "jobDeploymentStatus": (
                *("Initializing", "Running", "Complete", "Failed", "ValidationFailed"),
                *("Suspending", "Suspended", "Retrying", "Waiting"),
            ),
            "jobStatus": ("PENDING", "RUNNING", "STOPPED", "SUCCEEDED", "FAILED"),
        },
        (
            *("dashboardURL", "endTime", "failed", "jobDeploymentStatus", "jobId", "jobStatus", "message"),
            *("observedGeneration", "rayClusterName", "rayClusterStatus", "rayJobInfo", "reason"),
            *("startTime", "succeeded"),
        ),
        "status.jobStatus == SUCCEEDED",
        "status.jobDeploymentStatus in (Failed, ValidationFailed), status.jobStatus == STOPPED",
    ),
    "SparkApplication": _Status(
        regex(r"sparkoperator\.k8s\.io/"),
        {
            "applicationState.state": (
                *("SUBMITTED", "RUNNING", "COMPLETED", "FAILED", "SUBMISSION_FAILED", "PENDING_RERUN"),
                *("INVALIDATING", "SUCCEEDING", "FAILING", "SUSPENDING", "SUSPENDED", "RESUMING", "UNKNOWN"),
            )
        },
        (
            *("applicationState", "driverInfo", "executionAttempts", "executorState"),
            *("lastSubmissionAttemptTime", "sparkApplicationId", "submissionAttempts", "submissionID"),
            "terminationTime",
        ),
        "status.applicationState.state == COMPLETED",
        "status.applicationState.state == FAILED",
    ),
    "StatefulSet": _Status(
        _APPS,
        fields=(*_OF_SETS, "currentReplicas", "currentRevision", "updateRevision"),
        done="status.readyReplicas > 0",
    ),
    "TFJob": _Status(
        _TRAINING,
        fields=_OF_TRAININGS,
        done="status.replicaStatuses.Worker.succeeded > 0",
    ),
    "TrainJob": _Status(
        regex(r"trainer\.kubeflow\.org/"),
        fields=("conditions", "jobsStatus", "trainerStatus"),
        done="status.jobsStatus.0.succeeded > 0",
        failed="status.jobsStatus.0.failed > 0",
    ),
    "Workflow": _Status(
        regex(r"argoproj\.io/"),
        {"phase": ("Pending", "Running", "Succeeded", "Failed", "Error")},
        failed="status.phase in (Failed, Error)",
    ),
}
"""Source: the API definitions of Kubernetes 1.35, JobSet 0.10, Kubeflow's operators, KubeRay 1.4 and Argo Workflows."""


def _awaited(manifest: str) -> tuple[str, _Status | None, Object]:
    """The kind of the only object of a manifest, its status if that is known, and the object."""
    documents = (documents_in(manifest) if manifest else None) or []
    body: object = documents[0] if len(documents) == 1 else None
    if not is_mapping(body):
        return "", None, {}
    kind = str(body.get("kind"))
    status = _STATUSES.get(kind)
    known = status is not None and status.versions.match(str(body.get("apiVersion"))) is not None
    return kind, status if known else None, body


def _never(
    asked: Requirement, kind: str, status: _Status, body: Object, usual: str
) -> tuple[str, str] | None:
    """Why no object of a kind satisfies a comparison, and the way out: `usual` is the condition for this end."""
    root, _, field = asked.key.partition(".")
    if asked.holds_of_nothing:
        return None
    if root not in _OF_OBJECTS:
        small = {each.lower(): each for each in (*status.fields, *status.words)}
        meant = small.get((field if root.lower() == "status" else root).lower())
        return (f"a {kind} has no `{root}`", f"write `status.{meant}`") if meant else None
    if root != "status":
        return None
    some = usual or status.done or f"status.{next(iter(status.words))} == ..."
    if not field:
        return ("the status is an object, not a word", f"write `{some}`") if asked.values else None
    word, words = (asked.values or ("",))[0], status.words.get(field, ())
    if words and word and not set(words).intersection(asked.values):
        is_usual = usual.startswith(f"status.{field} ")
        return f"no {kind} is `{word}`", f"write `{usual}`" if is_usual else suggest(word, words)
    name, *inner = field.split(".")
    fields = status.fields
    if name == "phase" and status.done:
        return f"a {kind} has no `status.phase`", f"write `{status.done}`"
    if fields and name not in fields and (meant := near(name, fields)) is not None:
        return f"a {kind} has no `status.{name}`", f"write `status.{meant}`"
    if name == "conditions" and inner and not inner[0].isdecimal():
        return f"the conditions of a {kind} are a list, whose entries have numbers", f"write `{some}`"
    if name == "replicaStatuses" and inner:
        return _of_replicas(inner, kind, roles(body))
    return None


def _of_replicas(path: list[str], kind: str, known: tuple[str, ...]) -> tuple[str, str] | None:
    """Why the status of a training has nothing at a path below `replicaStatuses`, and the way out."""
    start = "status.replicaStatuses"
    if known and path[0] not in known:
        role = near(path[0], known) or known[0]
        return f"the {kind} has no replicas `{path[0]}`", f"write `{'.'.join((start, role, *path[1:]))}`"
    if len(path) > 1 and path[1] not in _COUNTS and (count := near(path[1], _COUNTS)) is not None:
        return f"replicas have no `{path[1]}`", f"write `{start}.{path[0]}.{count}`"
    return None


_FIELDS = ("successCondition", "failureCondition")
_COUNTS = ("active", "failed", "labelSelector", "selector", "succeeded")
_OF_OBJECTS = frozenset(("apiVersion", "data", "kind", "metadata", "spec", "status"))


def at_once(view: View) -> Iterator[Problem]:
    """A wait for an object that a template writes does not end before the object has a status.

    Source: Argo Workflows, matchConditions: a failure takes one comparison, a success all, of which there may be none.
    """
    for template in view.templates:
        resource: Object = template.data.get("resource") or {}
        if resource.get("action") not in MAKING:
            continue
        path = (*template.path, "resource")
        success, failure = (string(resource, field) for field in _FIELDS)
        if failure and not success:
            alone = FailureAlone(
                "failureCondition", "successCondition", "successCondition: status.succeeded == 1"
            )
            yield Problem((*path, "failureCondition"), alone, on_key=True)
        for field, text, every in zip(_FIELDS, (success, failure), (True, False), strict=True):
            try:
                asked = conditions(text) if text and "{{" not in text else ()
            except GrammarError:
                continue  # which is reported with other conditions
            for one in true_of_new(asked, every=every):
                written = text[one.start : one.end]
                finding = HoldsOfNothing(written, "succeeds" if every else "fails", one.key)
                yield Problem((*path, field), finding, part=(one.start, one.end))


def endless(view: View) -> Iterator[Problem]:
    """A wait for an object to succeed ends when it fails. Source: Argo Workflows, matchConditions."""
    limits = (view.spec.get("activeDeadlineSeconds"), *map(view.defaults.get, _LIMITS))
    for template in view.templates if not any(limits) and view.base is None else ():
        resource: Object = template.data.get("resource") or {}
        text = string(resource, "successCondition")
        if not asks_for_end(text) or any(map(template.data.get, _LIMITS)):
            continue
        kind, status, body = _awaited(string(resource, "manifest"))
        if status is None:
            continue
        spec = mapping_at(body, "spec")
        attempts = str(spec.get("backoffLimit", ""))
        failed = status.failed.format(attempts if attempts.isdecimal() else _ATTEMPTS)
        training = TRAININGS.get(kind)
        if training is not None and training.restarts:
            found = list(_unseen(template, resource, kind, spec))
            yield from found
            failed = "" if found else _any_failed(spec, training)
        if failed and not resource.get("failureCondition"):
            yield Problem((*template.path, "resource", "successCondition"), NeverFails(kind, failed))


def _any_failed(spec: Object, training: Training) -> str:
    """The condition that a pod of a training has failed for good: one that is not started again."""
    return ", ".join(
        f"status.replicaStatuses.{role}.failed > 0"
        for role, one in mapping_at(spec, training.replicas).items()
        if is_mapping(one) and not _starts_again(one, training)
    )


def _starts_again(replica: Object, training: Training) -> bool:
    """Whether the failed pods of a role are started again."""
    return (replica.get("restartPolicy") or training.restarts) != "Never"


def _unseen(template: Template, resource: Object, kind: str, spec: Object) -> Iterator[Problem]:
    """A limit at which the operator ends a training without changing the counts of its replicas.

    Source: Kubeflow Training Operator 1.8, ReconcileJobs: at a limit, it sets only the condition.
    """
    text = string(resource, "failureCondition")
    try:
        told = [one.key for one in conditions(text)] if text else []
    except GrammarError:
        return
    if any(not key.startswith("status.replicaStatuses.") for key in told):
        return
    training = TRAININGS[kind]
    policy, replicas = mapping_at(spec, "runPolicy"), spec.get(training.replicas)
    if not is_mapping(replicas):
        return
    again = any(is_mapping(one) and _starts_again(one, training) for one in replicas.values())
    limit = policy.get("backoffLimit")
    found = "activeDeadlineSeconds" if policy.get("activeDeadlineSeconds") else ""
    if not found and limit is not None and (again or str(limit) == "0"):
        found = "backoffLimit"
    if found:
        name = "failureCondition" if text else "successCondition"
        yield Problem((*template.path, "resource", name), UnseenEnd(found, kind))


_LIMITS = ("activeDeadlineSeconds", "timeout")
_ATTEMPTS = 6
"""The default backoff limit of a Job: its pods that fail before the Job fails."""
