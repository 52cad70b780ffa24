"""Timeouts, retries, memoization and locks of templates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import GRAPH_BODIES
from flowdsl.compiler.problem import Problem, Various
from flowdsl.compiler.tree import entries_at, inside, is_mapping, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.duration import duration
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import DNS_SUBDOMAIN_LENGTH
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import TAG, masked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class BadDuration(Finding):
    """A text that is not a duration for Argo, or one that it cannot keep to."""

    code = "FD560"
    title = "`{field}` is `{text}`, which is {fault}"
    label = "expected {expected}"
    help = "write {expected}"
    field: str
    text: str
    expected: str
    fault: str = "no duration"


class Misplaced(Finding):
    """A field that templates of this type cannot have."""

    code = "FD561"
    title = "a template with `{body}` cannot have `{field}`"
    help = "{way}"
    body: str
    field: str
    way: str


class NotWhole(Finding):
    """A number that has to be whole, or a tag that gives one."""

    code = "FD562"
    title = "`{field}` is `{text}`, which is not a whole number{bound}"
    label = "expected a whole number{bound}"
    help = "{way}"
    field: str
    text: str
    bound: str

    def words(self) -> dict[str, str]:
        """The number, and the seconds of a duration in its place."""
        way = f"write a whole number{self.bound}"
        if self.field.endswith("Seconds") and not self.text.lstrip("+-").isdecimal():
            seconds = literal_seconds(self.text) or 0
            way = f"write {seconds:.0f}, without a unit: it counts seconds" if seconds >= 1 else way
        if "{{" in self.text:
            way += ", or a single tag that gives it"
        return {**super().words(), "way": way}


class NoBackoffDuration(Finding):
    """A backoff without its first wait: Argo fails at the first retry."""

    code = "FD563"
    title = "the backoff has no `duration`"
    label = "needs `duration`"
    help = "add `duration`, the time before the first retry, such as `30s`"


class BackoffWithoutLimit(Finding):
    """A backoff that Argo skips, because the retries have no limit."""

    code = "FD564"
    severity = "warning"
    title = "the backoff has no effect, since `retryStrategy` has no `limit`"
    label = "retries follow without a pause"
    help = "add `limit` to the `retryStrategy`"


class BadKey(Finding):
    """A memoization key that Argo refuses when the template is reached."""

    code = "FD565"
    title = "`{key}` cannot be a memoization key"
    label = "at most 253 letters, digits and `-`, beginning with a letter or digit"
    help = "use a hash of it, such as `{{{{=sprig.sha256sum(toJSON([inputs.parameters.x]))}}}}`"
    key: str


class BadLock(Various):
    """A semaphore or mutex that Argo cannot name, or names twice."""

    code = "FD566"


class PodResource(Finding):
    """A resource that cannot be given to a whole pod."""

    code = "FD569"
    title = "`{name}` cannot be given to a whole pod"
    label = "only cpu, memory and hugepages"
    help = "move `{name}` to `resources` of the container"
    name: str


ONLY_LEAVES = "set it on the templates that it calls"


def times(view: View) -> Iterator[Problem]:
    """Durations are valid for their field, and on templates that can have them."""
    spec, path = view.spec, view.path
    delay = inside(spec, "podGC")
    yield from duration_faults(delay, "deleteDelayDuration", (*path, "podGC"))
    if (seconds := spec.get("activeDeadlineSeconds")) is not None:
        yield from whole_faults(seconds, "activeDeadlineSeconds", (*path, "activeDeadlineSeconds"), 1)
    for template in view.with_defaults:
        data, here = template.data, template.path
        for field, bare in (("timeout", False), ("pendingTimeout", True)):
            if data.get(field) and template.body and not template.is_leaf:
                way = "use `duration` of `suspend`" if template.body == "suspend" else ONLY_LEAVES
                yield Problem((*here, field), Misplaced(template.body, field, way), on_key=True)
            elif field in data:
                problems = list(duration_faults(data, field, here, bare or not template.body))
                yield from problems or too_short(template, field, str(data[field] or ""), (*here, field))
        if "suspend" in data:
            yield from duration_faults(data["suspend"], "duration", (*here, "suspend"))
        if "memoize" in data:
            yield from duration_faults(data["memoize"], "maxAge", (*here, "memoize"), bare=False)
        if "containerSet" in data:
            retries = inside(data, "containerSet", "retryStrategy")
            yield from duration_faults(
                retries, "duration", (*here, "containerSet", "retryStrategy"), bare=False
            )
        if "activeDeadlineSeconds" in data:
            yield from _deadline(view, template)
        if data.get("parallelism") is not None and template.body not in (*GRAPH_BODIES, ""):
            way = "set it on the template that calls this one"
            yield Problem((*here, "parallelism"), Misplaced(template.body, "parallelism", way), on_key=True)


def too_short(template: Template, field: str, text: str, path: Path) -> Iterator[Problem]:
    """The finding about a timeout in which Argo starts no pod: more than one whole second must remain.

    Source: Argo Workflows, build in workflow/controller/workflowpod.go.
    """
    if (seconds := literal_seconds(text)) is None:
        return
    if seconds < 0:
        yield Problem(path, BadDuration(field, text, "a time from 0"))
    elif seconds <= SHORTEST and field == "timeout" and (template.is_pod or not template.body):
        finding = BadDuration(field, text, f"more than {SHORTEST}s", "too short to start a pod")
        yield Problem(path, finding)


SHORTEST = 2
"""The `timeout` in seconds up to which no pod is started."""


def _deadline(view: View, template: Template) -> Iterator[Problem]:
    """The findings about `activeDeadlineSeconds`: allowed on leaves and `suspend`, an integer, from 1 for pods."""
    value = template.data.get("activeDeadlineSeconds")
    path = (*template.path, "activeDeadlineSeconds")
    if value is None:
        return
    if template.body in GRAPH_BODIES:
        yield Problem(path, Misplaced(template.body, "activeDeadlineSeconds", ONLY_LEAVES), on_key=True)
        return
    least = 1 if template.is_pod else 0
    yield from whole_faults(value, "activeDeadlineSeconds", path, least)
    is_first = view.runs and template.name == view.setting("entrypoint")
    if template.body and _is_joined(str(value), has_values=is_first):
        yield Problem(path, NotWhole("activeDeadlineSeconds", str(value), f" from {least}"))


def _is_joined(text: str, *, has_values: bool) -> bool:
    """Whether a text begins with something else than its tag, whose value is not known before the run.

    Source: Argo Workflows, validateTemplate and IsPlaceholder: it puts a placeholder there, which has to come first;
    for inputs too, even with values of their own, except those of the entrypoint of a run.
    """
    known = ("workflow.", _INPUT) if has_values else ("workflow.",)
    names = (tag[1].strip() for tag in TAG.finditer(text))
    return not text.startswith("{{") and any(not name.startswith(known) for name in names)


_INPUT = "inputs.parameters."


def whole_faults(value: Any, field: str, path: Path, least: int | None) -> Iterator[Problem]:
    """The finding about a number or text that is not a tag, nor an integer from a minimum.

    A number, unlike a text, must fit into 32 bits. Source: Kubernetes, IntOrString.
    """
    text = str(value)
    if isinstance(value, int) and value >= 2**31:
        yield Problem(path, NotWhole(field, text, f" up to {2**31 - 1}"))
        return
    if "{{" in text or (_WHOLE.fullmatch(text) is not None and (least is None or int(text) >= least)):
        return
    yield Problem(path, NotWhole(field, text, "" if least is None else f" from {least}"))


_WHOLE = regex(r"[+-]?[0-9]{1,4000}")
"""An integer as accepted by Go."""


def duration_faults(owner: Object | None, field: str, path: Path, bare: bool = True) -> Iterator[Problem]:
    """The finding about a field that is not a duration; `bare` says that whole seconds need no unit."""
    text = str((owner or {}).get(field) or "")
    if not text or "{{" in text:
        return
    try:
        duration(text)
    except GrammarError as error:
        finding = BadDuration(field, text, error.expected)
        yield Problem((*path, field), finding, part=(error.start, error.end))
        return
    if not bare and text.lstrip("+-").isdecimal() and (text != "0" or field == "timeout"):
        yield Problem((*path, field), BadDuration(field, text, f"a unit, as in `{text}s`"))


def literal_seconds(text: str) -> float | None:
    """A duration in seconds; None if it is none, or known only in the run."""
    try:
        return duration(text) if text and "{{" not in text else None
    except GrammarError:
        return None


def retries(view: View) -> Iterator[Problem]:
    """Retries have integer limits, and an effective backoff."""
    for owner, path in view.owners:
        own: Object | None = owner.get("retryStrategy")
        if own is not None:
            defaults = inside(view.defaults, "retryStrategy") if owner is not view.spec else {}
            yield from _retry(own, (*path, "retryStrategy"))
            # A template may extend the defaults; mistakes in its own fields are reported there.
            if owner is not view.defaults or any(
                not is_mapping(inside(each.data, "retryStrategy").get("backoff")) for each in view.all
            ):
                yield from _backoff(own, defaults, (*path, "retryStrategy"))
    for template in view.with_defaults:
        group = inside(template.data, "containerSet", "retryStrategy")
        if group.get("retries") is not None:
            path = (*template.path, "containerSet", "retryStrategy", "retries")
            yield from whole_faults(group["retries"], "retries", path, 0)


def _retry(strategy: Object, path: Path) -> Iterator[Problem]:
    """The findings about the numbers and durations of one strategy."""
    if strategy.get("limit") is not None:
        yield from whole_faults(strategy["limit"], "limit", (*path, "limit"), None)
    backoff = inside(strategy, "backoff")
    for field in ("duration", "maxDuration", "cap"):
        yield from duration_faults(backoff, field, (*path, "backoff"))
    if backoff.get("factor") is not None:
        yield from whole_faults(backoff["factor"], "factor", (*path, "backoff", "factor"), None)


def _backoff(strategy: Object, defaults: Object, path: Path) -> Iterator[Problem]:
    """The finding about the backoff of a strategy, with the defaults of all templates merged into it."""
    backoff: Object | None = strategy.get("backoff")
    if backoff is None:
        return
    if not (backoff.get("duration") or inside(defaults, "backoff").get("duration")):
        yield Problem((*path, "backoff"), NoBackoffDuration())
    elif strategy.get("limit") is None and defaults.get("limit") is None:
        yield Problem((*path, "backoff"), BackoffWithoutLimit())


NO_MEMO_KEY = regex(r"^-|[^-a-zA-Z0-9]+")


def memoization(view: View) -> Iterator[Problem]:
    """The key of a memoized template is valid, as far as it is known."""
    for template in view.with_defaults:
        if template.data.get("memoize") is None:
            continue
        key = string(template.data, "memoize", "key")
        known = masked(key)
        wrong = NO_MEMO_KEY.search(known)
        is_long = len(TAG.sub("", key)) > DNS_SUBDOMAIN_LENGTH  # the limit of a key in a ConfigMap
        if not key or wrong is not None or is_long:
            yield Problem((*template.path, "memoize", "key"), BadKey(key), part=wrong and wrong.span())


def locks(view: View) -> Iterator[Problem]:
    """Every semaphore has one source, no lock is repeated, and the namespace of a lock is valid.

    Source: Argo Workflows, DecodeLockName in workflow/sync.
    """
    for owner, path in view.owners:
        locks: Object | None = owner.get("synchronization")
        if locks is None:
            continue
        for field in ("semaphores", "mutexes"):
            seen: set[str] = set()
            for place, lock in entries_at(locks, (*path, "synchronization"), field):
                sources = [each for each in ("configMapKeyRef", "database") if lock.get(each) is not None]
                if field == "semaphores" and len(sources) != 1:
                    found = (
                        "both `configMapKeyRef` and `database`"
                        if sources
                        else "neither `configMapKeyRef` nor `database`"
                    )
                    yield Problem(place, BadLock(f"the semaphore has {found}", "give exactly one of them"))
                    continue
                within = (sources[0],) if field == "semaphores" else ()
                naming = "key" if within == ("database",) else "name"
                if not string(lock, *within, naming):
                    finding = BadLock(f"the lock has no `{naming}`", f"add `{naming}`")
                    yield Problem((*place, *within), finding)
                elif string(lock, *within, "key") == "" and "key" in inside(lock, *within):
                    finding = BadLock("the semaphore has no `key`", "add the key in the ConfigMap")
                    yield Problem((*place, *within, "key"), finding)
                namespace = string(lock, "namespace")
                if "/" in namespace and "{{" not in namespace:
                    finding = BadLock(
                        f"the lock is in the namespace `{namespace}`", "write a name without `/`"
                    )
                    yield Problem((*place, "namespace"), finding)
                text = _canonical(lock)
                if text in seen:
                    yield Problem(place, BadLock("the same lock is asked for twice", "remove one of the two"))
                seen.add(text)


def _canonical(value: Any) -> str:
    """A text that is equal for two values that differ only in the order of their fields."""
    if not is_mapping(value):
        return repr(value)
    return "{" + ", ".join(sorted(f"{key}: {_canonical(each)}" for key, each in value.items())) + "}"


def pod_resources(view: View) -> Iterator[Problem]:
    """Resources of whole pods are of the kinds that Kubernetes allows there, on templates with a pod."""
    for owner, path in view.owners:
        resources = inside(owner, "podResources")
        if resources.get("claims"):
            yield Problem((*path, "podResources", "claims"), PodResource("claims"), on_key=True)
        for field in ("limits", "requests"):
            for name in inside(resources, field):
                if name not in ("cpu", "memory") and not str(name).startswith("hugepages-"):
                    yield Problem((*path, "podResources", field, name), PodResource(str(name)), on_key=True)
    for template in view.templates:
        fields = {"podResources": template.body in ("http", "plugin"), "resourceClaims": not template.is_pod}
        for field, wrong in fields.items():
            if wrong and template.body and template.data.get(field):
                way = "set it on a template with a pod of its own"
                yield Problem((*template.path, field), Misplaced(template.body, field, way), on_key=True)
