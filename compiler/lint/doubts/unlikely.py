"""Settings that the API server accepts and that are probably mistakes: secrets in plain text, empty scripts.

What of this is told of Python at its options is looked for in manifests that somebody wrote only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.amounts import UnusualResource
from flowdsl.compiler.findings.bodies import is_secret
from flowdsl.compiler.kinds import PODLESS_BODIES, kind
from flowdsl.compiler.lint.manifest.dag import inner_first
from flowdsl.compiler.lint.manifest.template import Template
from flowdsl.compiler.lint.pods.bodies import NoCommand
from flowdsl.compiler.lint.pods.nodes import TERMS
from flowdsl.compiler.lint.workflow.settings import literal_seconds
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, entries_at, inside, string
from flowdsl.diagnostic import Finding, near
from flowdsl.grammar.devices import VENDORS
from flowdsl.grammar.duration import in_units
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.expression_tree import variables
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object

_INTEGER = regex(r"[+-]?[0-9]{1,9}")


class WrittenSecret(Finding):
    """A variable that seems to hold a secret, in a manifest: who may list workflows can read it."""

    code = "FD773"
    severity = "warning"
    title = "the value of `{name}` seems to be a secret"
    label = "everybody who can see the workflow can read it"
    help = "keep it in a Secret, and write `valueFrom: {{secretKeyRef: {{name: ..., key: ...}}}}`"
    name: str


class NeverReached(Finding):
    """A time limit longer than another one that ends the run, or the step, anyway."""

    code = "FD802"
    severity = "warning"
    title = "the {field} of {text} is never reached: {what} ends after {most}"
    label = "longer than {most}"
    help = "make {field} shorter, or {limit} longer"
    text: str
    what: str
    most: str
    field: str = "`timeout`"
    limit: str = "`activeDeadlineSeconds`"


class EmptyScript(Finding):
    """A script without a source: its container starts and does nothing."""

    code = "FD816"
    severity = "warning"
    title = "the script of `{name}` is empty"
    label = "nothing to run"
    help = "add `source`"
    name: str


class TwoExits(Finding):
    """Two templates for one end: Argo runs `onExit`, and never the hook `exit`."""

    code = "FD821"
    severity = "warning"
    title = "the hook `exit` never runs, because `onExit` is set"
    label = "never runs"
    help = "keep one of them, or call both templates from one"


class NeverTriedAgain(Finding):
    """A retry strategy that never retries."""

    code = "FD817"
    severity = "warning"
    title = "the template is never retried: {reason}"
    label = "no second attempt"
    help = "{way}"
    reason: str
    way: str


class StoppedAtOnce(Finding):
    """A daemon at the end of a graph, with which Argo stops it as soon as it is ready."""

    code = "FD799"
    severity = "warning"
    title = "daemon `{name}` is stopped as soon as it is ready: nothing in `{graph}` runs after it"
    label = "a daemon ends with the graph that calls it"
    help = "call it before the tasks that use it, in their graph"
    name: str
    graph: str


class NoPodOfItsOwn(Finding):
    """A field about a pod, on a template that Argo runs without one."""

    code = "FD893"
    severity = "warning"
    title = "{field} has no effect on a template with `{body}`, which has no pod"
    label = "nothing reads it"
    help = "remove it{way}"
    field: str
    body: str
    way: str


def devices(view: View) -> Iterator[Problem]:
    """Devices that containers request have no name that resembles another one."""
    for template, place, container in view.containers:
        for name in inside(container, "resources", "limits"):
            written = name if "." in name else name.replace("/", ".com/")
            meant = near(written, VENDORS.values(), 0.9)
            if meant is not None and name not in VENDORS.values():
                path = (*template.path, *place, "resources", "limits", name)
                yield Problem(path, UnusualResource(name, meant), on_key=True)


def times(view: View) -> Iterator[Problem]:
    """No `timeout` is longer than the deadline of the run or of its template, and no wait longer than that.

    The deadline of the run is not that of exit handlers, except for their retries. Source: Argo Workflows,
    createWorkflowPod, podReconciliation and processNodeRetries.
    """
    of_run = _deadline("the run", view.spec)
    last = [each for each in (view.last, *(hook for _, hook, _ in view.at_ends)) if each is not None]
    at_ends = {id(each) for each in inner_first(last, Template.called)} if of_run else ()
    for template in view.templates:
        whole = literal_seconds(string(template.data, "timeout"))
        pending = string(template.data, "pendingTimeout")
        waiting = literal_seconds(pending)
        if whole is not None and waiting is not None and waiting > whole:
            finding = NeverReached(pending, "the step", in_units(whole), "`pendingTimeout`", "`timeout`")
            yield Problem((*template.path, "pendingTimeout"), finding)
        own = _deadline("the step", template.data)
        of_others = of_run if id(template) not in at_ends else []
        for place, limits in (
            (("timeout",), (*of_others, *own)),
            (("suspend", "duration"), of_others),
            (("retryStrategy", "backoff", "duration"), of_run),
        ):
            text = string(template.data, *place)
            seconds = literal_seconds(text)
            what, most = min(limits, key=lambda each: each[1], default=("", 0))
            if seconds is not None and what and seconds > most:
                finding = NeverReached(text, what, in_units(most), f"`{place[-1]}`")
                yield Problem((*template.path, *place), finding)


def _deadline(what: str, owner: Object) -> list[tuple[str, int]]:
    """The deadline of a run or step in seconds, with its name, if it is known."""
    seconds = str(owner.get("activeDeadlineSeconds"))
    return [(what, int(seconds))] if seconds.isdecimal() else []


_BY_CALLER = ("affinity", "nodeSelector", "tolerations")
"""The fields that a template with calls passes on. Source: Argo Workflows, addSchedulingConstraints."""

_OF_A_POD = (
    *("automountServiceAccountToken", "executor", "hostAliases", "initContainers", "podSpecPatch"),
    *("priorityClassName", "schedulerName", "securityContext", "serviceAccountName", "sidecars", "volumes"),
)
"""The fields of a template that Argo reads only when it creates a pod. Source: Argo Workflows, workflowpod.go."""

_BY_AGENT = ": the requests of a run are made by one pod of Argo's own"
_AT_CALLED = ", or write it at the templates that this one calls"
_WAYS = {"http": _BY_AGENT, "suspend": "", "steps": _AT_CALLED, "dag": _AT_CALLED}


def podless(view: View) -> Iterator[Problem]:
    """Templates without a pod have no fields that only pods use. Source: Argo Workflows, agent.go."""
    for template in view.templates:
        body = template.body
        if body not in _WAYS:
            continue
        of_others = body in ("steps", "dag")
        for field in _OF_A_POD if of_others else (*_BY_CALLER, *_OF_A_POD):
            if template.data.get(field):
                finding = NoPodOfItsOwn(f"`{field}`", body, _WAYS[body])
                yield Problem((*template.path, field), finding, on_key=True)
        apart = inside(template.data, "retryStrategy", "affinity").get("nodeAntiAffinity")
        if apart is not None and not of_others:
            finding = NoPodOfItsOwn("`retryStrategy.affinity`", body, _WAYS[body])
            yield Problem((*template.path, "retryStrategy", "affinity"), finding, on_key=True)


def stopped(view: View) -> Iterator[Problem]:
    """A graph does not end with daemons alone. Source: Argo Workflows, killDaemonedChildren."""
    for template in view.templates:
        last = template.last if template.calls else []
        daemons = [call for call in last if call.callee is not None and call.callee.data.get("daemon")]
        if len(daemons) == len(last) and all(call.callee and call.callee.is_pod for call in daemons):
            for call in daemons:
                yield Problem(call.path, StoppedAtOnce(call.name, template.title))


def scripts(view: View) -> Iterator[Problem]:
    """Scripts have a source."""
    shared = string(view.defaults, "script", "source")
    for template in view.all:  # templates that are alike may have other sources
        script = inside(template.data, "script")
        words = [*(script.get("command") or ()), *(script.get("args") or ())]
        given = any(not str(word).startswith("-") for word in words[1:])  # which may be the program
        if template.body == "script" and words and not (given or template.source.strip() or shared):
            yield Problem((*template.path, "script"), EmptyScript(template.title))


def exits(view: View) -> Iterator[Problem]:
    """A run or step has one exit handler. Source: Argo Workflows, GetExitHook."""
    owners = [(view.spec, view.path), *((call.data, call.path) for call in view.calls)]
    for owner, path in owners:
        if owner.get("onExit") and inside(owner, "hooks").get("exit") is not None:
            yield Problem((*path, "hooks", "exit"), TwoExits(), on_key=True)


_ASKED = regex(r"\s*lastRetry\.status\s*==\s*['\"](\w+)['\"]\s*")
_AGAIN = {"OnFailure": "Failed", "OnError": "Error"}
"""The statuses after which a policy retries a template."""


_CODES = regex(
    r"\s*(?:asInt\()?\s*lastRetry\.exitCode\s*\)?\s*(?:in\s*\[([\d,\s]*)\]|==\s*['\"]?(\d+)['\"]?)\s*"
)
_HOST = "kubernetes.io/hostname"
_OF_ARGO = frozenset(("2", "64", "65", "137", "143"))
"""The exit codes of the pod that creates an object and waits for it. Source: Argo Workflows, cmd/argoexec/main.go."""


def attempts(view: View) -> Iterator[Problem]:
    """Retry strategies can retry. Source: Argo Workflows, processNodeRetries."""
    for owner, path in view.owners:
        strategy = inside(owner, "retryStrategy")
        backoff = inside(strategy, "backoff")
        limit = strategy.get("limit")
        if limit is not None and _known(limit) <= (0 if len(strategy) > 1 else -1):
            reason, way = f"its `limit` is {limit}", "write a `limit` of at least 1"
            yield Problem((*path, "retryStrategy", "limit"), NeverTriedAgain(reason, way))
            continue
        expression, policy = string(strategy, "expression"), string(strategy, "retryPolicy")
        asked = _ASKED.fullmatch(expression)
        if (
            asked is not None
            and policy in _AGAIN
            and asked[1] in _AGAIN.values()
            and asked[1] != _AGAIN[policy]
        ):
            reason = f"`retryPolicy: {policy}` and the `expression` never hold together"
            finding = NeverTriedAgain(reason, "remove `retryPolicy`: the `expression` says when")
            yield Problem((*path, "retryStrategy", "retryPolicy"), finding)
        elif policy == "OnError" and all("lastRetry.exitCode" in each for each in expression.split("||")):
            reason = (
                "a program that ends with an exit code has failed, and `OnError` is for pods that were lost"
            )
            finding = NeverTriedAgain(reason, "leave the policy out, or take `OnFailure`")
            yield Problem((*path, "retryStrategy", "retryPolicy"), finding)
        elif (cause := _no_such_code(owner, expression)) is not None:
            finding = NeverTriedAgain(cause, "leave the exit codes out")
            yield Problem((*path, "retryStrategy", "expression"), finding)
        if inside(strategy, "affinity").get("nodeAntiAffinity") is not None and _is_bound(owner):
            reason = "its pods are bound to one node, and a second attempt asks for another one"
            finding = NeverTriedAgain(reason, "let them run on other nodes too, or on the same one again")
            yield Problem((*path, "retryStrategy", "affinity"), finding)
        wait, longest = (literal_seconds(string(backoff, field)) for field in ("duration", "maxDuration"))
        cap = literal_seconds(string(backoff, "cap"))
        if wait is not None and longest is not None and min(wait, cap or wait) >= longest:
            reason = f"the first wait of {backoff['duration']} is not shorter than `maxDuration`"
            finding = NeverTriedAgain(reason, "make `maxDuration` longer than all waits together")
            yield Problem((*path, "retryStrategy", "backoff", "maxDuration"), finding)


def _no_such_code(template: Object, expression: str) -> str | None:
    """Why a template never has the exit codes that an expression requires, if it requires nothing else."""
    if kind(template) in PODLESS_BODIES:
        return "it is not a pod, and has no exit code" if _needs_a_code(expression) else None
    asked = [_CODES.fullmatch(each) for each in expression.split("||")]
    if None in asked:
        return None
    codes = {code.strip() for each in asked if each is not None for code in (each[1] or each[2]).split(",")}
    if template.get("resource") is not None and codes.isdisjoint(_OF_ARGO):
        return "when the object fails, the exit code is 64, that of Argo's own pod, which waits for it"
    return None


def _needs_a_code(expression: str) -> bool:
    """Whether an expression of nothing but exit codes is false for `-1`, which Argo gives where there is none."""
    if "lastRetry.exitCode" not in expression or "{{" in expression:
        return False
    # Few manifests need the functions of expressions.
    from flowdsl.compiler.evaluation.evaluate import value_of
    from flowdsl.compiler.evaluation.values import ExpressionError

    try:
        node = parse(expression)
        alone = {one.path for one in variables(node)} == {("lastRetry", "exitCode")}
        return alone and value_of(node, {"lastRetry": {"exitCode": "-1"}}) is False
    except (GrammarError, ExpressionError, RecursionError):  # which is reported elsewhere
        return False


def _is_bound(template: Object) -> bool:
    """Whether the pods of a template can run on one node only."""
    if _HOST in inside(template, "nodeSelector"):
        return True
    terms = [entries(term, "matchExpressions") for term in entries(template, *TERMS)]
    nodes = [
        {
            str(node)
            for one in term
            if (one.get("key"), one.get("operator")) == (_HOST, "In")
            for node in one.get("values") or ()
        }
        for term in terms
    ]
    return bool(nodes) and all(nodes) and len(set[str]().union(*nodes)) == 1


def _known(limit: object) -> int:
    """The limit of retries, or 1 if it is known only in the run."""
    text = str(limit)
    return int(text) if _INTEGER.fullmatch(text) else 1


def commands(view: View) -> Iterator[Problem]:
    """Sidecars, init containers and those of a set have a command, so that Argo need not query the registry."""
    for template, place, container in view.containers:
        if len(place) > 1 and place[0] != "initContainers" and not container.get("command"):
            finding = NoCommand(string(container, "name"), "container")
            yield Problem((*template.path, *place), finding)


def secrets(view: View) -> Iterator[Problem]:
    """Variables do not hold secrets."""
    for template, place, container in view.containers:
        for path, variable in entries_at(container, (*template.path, *place), "env"):
            name, value = string(variable, "name"), string(variable, "value")
            if is_secret(name, value):
                yield Problem((*path, "value"), WrittenSecret(name))
