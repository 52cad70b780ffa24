"""Node selectors, affinities and tolerations: those that the API server refuses, or that no node satisfies together."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.pods.untyped import WORD, pods_in
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.taints import EFFECTS
from flowdsl.compiler.tree import entries, entries_at, inside, is_list, is_mapping, string, value_at
from flowdsl.diagnostic import Finding
from flowdsl.grammar.devices import VENDORS
from flowdsl.grammar.names import is_dns_subdomain, is_label_value, is_qualified_name
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import is_filled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

TERMS = ("affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms")
"""The fields of a pod that lead to the terms of which a node must match one."""


class DeviceAsLabel(Finding):
    """A node selector that names a device, which is a resource and not a label."""

    code = "FD585"
    title = "`{name}` is a resource, not a node label: selecting it gives the pod no device"
    label = "a resource"
    help = "request it under `resources.limits` of the container"
    name: str


class BadToleration(Finding):
    """A toleration that the API server refuses."""

    code = "FD586"
    title = "the toleration {found}"
    help = "{way}"
    found: str
    way: str


class NoNode(Finding):
    """Empty terms of a node affinity, which no node matches: the pod waits forever."""

    code = "FD825"
    title = "no node matches an empty term"
    label = "the pod waits forever"
    help = "add `matchExpressions` to the term, or remove the affinity to allow any node"


class BadRequirement(Finding):
    """A term of a node affinity that the API server refuses."""

    code = "FD587"
    title = "the requirement on `{key}` {found}"
    help = "{way}"
    key: str
    found: str
    way: str


class NoSuchNode(Finding):
    """Requirements on one node label that exclude each other."""

    code = "FD843"
    title = "no node has both {one} and {other}"
    label = "the pod would wait forever"
    help = "remove one of the two"
    one: str
    other: str


#: Source: core/v1 Toleration of Kubernetes 1.35; `Lt` and `Gt` need a feature gate.
_OPERATORS = ("Exists", "Equal", "Lt", "Gt")
_WHOLE = regex(r"0|-?[1-9][0-9]*")


_FIELDS = frozenset(("matchExpressions", "matchFields"))


def placement(view: View) -> Iterator[Problem]:
    """Node selectors, tolerations and affinities have a form that the API server accepts."""
    for template in view.templates:
        for name in inside(template.data, "nodeSelector"):
            if name in VENDORS.values() and not _asks(template, name.partition("/")[0]):
                yield Problem((*template.path, "nodeSelector", name), DeviceAsLabel(str(name)), on_key=True)
    for owner, path in view.owners:
        yield from placed(owner, path)


def placed(owner: Object, path: Path) -> Iterator[Problem]:
    """The findings about the tolerations of pods, and their node selectors and affinities."""
    for here, toleration in entries_at(owner, path, "tolerations"):
        if any(is_filled(str(value)) for value in toleration.values()):
            continue
        for field, found, way in islice(_toleration_faults(toleration), 1):
            yield Problem((*here, *field), BadToleration(found, way))
    yield from _node_affinity(inside(owner, "affinity", "nodeAffinity"), (*path, "affinity", "nodeAffinity"))


def _toleration_faults(toleration: Object) -> Iterator[tuple[Path, str, str]]:
    """What is wrong with a toleration: the path of the field, the fault and the remedy.

    Later ones may follow from the first.
    """
    operator: str = toleration.get("operator") or "Equal"
    effect: str = toleration.get("effect") or ""
    key: str = toleration.get("key") or ""
    value: str = toleration.get("value") or ""
    if operator not in _OPERATORS:
        yield ("operator",), f"has the operator `{operator}`", "write `Exists` or `Equal`"
    if effect and effect not in EFFECTS:
        yield ("effect",), f"has the effect `{effect}`", f"write one of {', '.join(EFFECTS)}"
    if operator == "Exists" and value:
        yield ("value",), "has a value beside `Exists`", "remove `value`"
    if key and not is_qualified_name(key):
        yield ("key",), f"has the key `{key}`", "write the key of a taint, as `name` or `domain/name`"
    if operator in ("Lt", "Gt") and not _WHOLE.fullmatch(value):
        yield ("value",), f"is compared by `{operator}` with `{value}`", "write a whole number, in quotes"
    if operator == "Equal" and not is_label_value(value):
        way = "use at most 63 letters, digits, `-`, `_` and `.`"
        yield ("value",), f"has the value `{value}`", way
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        way = "write `effect: NoExecute`, or remove `tolerationSeconds`"
        yield ("tolerationSeconds",), "stays for a time, which only evictions have", way
    if not key and operator != "Exists":
        yield (), "has no key", "add `key`, or `operator: Exists` for every taint"


def _node_affinity(affinity: Object, place: Path) -> Iterator[Problem]:
    """The terms of a node affinity, required and preferred."""
    required = entries(affinity, _REQUIRED, "nodeSelectorTerms")
    if required and not any(_FIELDS & {field for field, each in one.items() if each} for one in required):
        yield Problem((*place, _REQUIRED, "nodeSelectorTerms"), NoNode())
    for path, term in entries_at(affinity, place, _REQUIRED, "nodeSelectorTerms"):
        yield from _term(term, path)
    for path, each in entries_at(affinity, place, _PREFERRED):
        yield from _term(inside(each, "preference"), (*path, "preference"))


def _term(term: Object, place: Path) -> Iterator[Problem]:
    """The requirements of a term on labels and fields of nodes."""
    for path, requirement in entries_at(term, place, "matchExpressions"):
        yield from requirement_faults(requirement, path)
    for path, requirement in entries_at(term, place, "matchFields"):
        yield from _field_faults(requirement, path)


def _field_faults(requirement: Object, path: Path) -> Iterator[Problem]:
    """What is wrong with a requirement about a field of nodes.

    Source: Kubernetes, ValidateNodeFieldSelectorRequirement.
    """
    key: str = requirement.get("key") or ""
    operator: str = requirement.get("operator") or ""
    values: list[str] = requirement.get("values") or []
    if is_filled(key) or is_filled(operator):
        return
    if key != "metadata.name" or len(values) != 1:
        way = "write `metadata.name` with the name of one node, or use `matchExpressions` for labels"
        found = "is about a field, and one field of nodes is known: `metadata.name`"
        yield Problem(path, BadRequirement(key, found, way))
    elif operator not in ("In", "NotIn"):
        way = "write In or NotIn"
        yield Problem((*path, "operator"), BadRequirement(key, f"has the operator `{operator}`", way))
    elif not is_filled(values[0]) and not is_dns_subdomain(values[0]):
        way = "write the name of a node: lower-case letters, digits, `-` and `.`"
        yield Problem((*path, "values", 0), BadRequirement(key, f"has the value `{values[0]}`", way))


def _asks(template: Template, vendor: str) -> bool:
    """Whether a container of the template requests a device of a vendor, or any by a resource claim."""
    asked = [inside(container, "resources") for _, container in template.containers]
    limits = {str(name).partition("/")[0] for each in asked for name in inside(each, "limits")}
    return vendor in limits or any(each.get("claims") for each in asked)


def requirement_faults(requirement: Object, path: Path) -> Iterator[Problem]:
    """The findings about one requirement. Source: Kubernetes, ValidateNodeSelectorRequirement."""
    key: str = requirement.get("key") or ""
    operator: str = requirement.get("operator") or ""
    values: list[str] = requirement.get("values") or []
    if any(is_filled(text) for text in (key, operator, *values)):
        return
    if not is_qualified_name(key):
        yield Problem(path, BadRequirement(key, "has no valid key", "use a label's name"))
    if operator in ("In", "NotIn"):
        if not values:
            yield Problem(path, BadRequirement(key, f"has no values for `{operator}`", "add `values`"))
        for index, value in enumerate(values):
            if not is_label_value(value):
                way = "use at most 63 letters, digits, `-`, `_` and `.`"
                yield Problem((*path, "values", index), BadRequirement(key, f"has the value `{value}`", way))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield Problem(
                (*path, "values"), BadRequirement(key, f"has values beside `{operator}`", "remove `values`")
            )
    elif operator in ("Gt", "Lt"):
        if len(values) != 1 or not values[0].lstrip("-").isdecimal():
            way = "give one whole number, in quotes"
            yield Problem(path, BadRequirement(key, f"compares by `{operator}` with something else", way))
    else:
        way = "use In, NotIn, Exists, DoesNotExist, Gt or Lt"
        yield Problem(path, BadRequirement(key, f"has the operator `{operator}`", way))


def demands(view: View) -> Iterator[Problem]:
    """Some node can satisfy the selector and the affinity of a pod, in one of its alternatives."""
    for owner, path in view.owners:
        if (found := _none(owner, path)) is not None:
            yield found
    for template in view.templates:
        manifest = string(template.data, "resource", "manifest")
        if TERMS[-1] in manifest:  # of pods that Argo does not create
            found = next(filter(None, (_none(pod, ()) for pod in pods_in(manifest) if _is_read(pod))), None)
            if found is not None:
                yield found._replace(path=(*template.path, "resource", "manifest"))


def _none(pod: Object, path: Path) -> Problem | None:
    """Why no node satisfies a pod's requirements, in any of its alternatives."""
    selector = {str(key): str(text) for key, text in inside(pod, "nodeSelector").items()}
    found = [
        _clash(selector, entries_at(term, place, "matchExpressions"))
        for place, term in entries_at(pod, path, *TERMS)
    ]
    return found[0] if found and all(found) else None


def _is_read(pod: Object) -> bool:
    """Whether the scheduling fields of a pod in a manifest have the form that Kubernetes reads."""
    terms: object = value_at(pod, TERMS)
    if not is_list(terms) or not is_mapping(pod.get("nodeSelector") or {}) or not all(map(is_mapping, terms)):
        return False
    asked: list[object] = [term.get("matchExpressions") or [] for term in terms]
    return all(
        is_list(one) and all(is_mapping(each) and is_list(each.get("values") or []) for each in one)
        for one in asked
    )


def _is_open(text: str) -> bool:
    """Whether a text is, or may be, known only in the run."""
    return is_filled(text) or WORD in text


def _clash(selector: dict[str, str], requirements: Iterable[tuple[Path, Object]]) -> Problem | None:
    """The first requirement that excludes those before it, or the selector; each has its path."""
    labels = {key: _Label(text) for key, text in selector.items() if not _is_open(text)}
    for path, one in requirements:
        key = str(one.get("key") or "")
        values = [str(each) for each in one.get("values") or ()]
        if any(_is_open(each) for each in (key, *values)):
            continue
        label = labels.setdefault(key, _Label())
        said = _said(key, str(one.get("operator")), values)
        label.ask(str(one.get("operator")), values)
        if not label.possible:
            before = label.said or f"`{key}={selector.get(key, '')}`"
            return Problem(path, NoSuchNode(before, said))
        label.said = said
    return None


class _Label:
    """The values that a label may have. Source: Kubernetes, Requirement.Matches in apimachinery/pkg/labels."""

    def __init__(self, value: str | None = None) -> None:
        self.allowed: set[str] | None = None if value is None else {value}
        self.denied: set[str] = set()
        self.present = value is not None
        self.absent = False
        self.above, self.below = float("-inf"), float("inf")
        self.said = ""  # the last requirement

    def ask(self, operator: str, values: list[str]) -> None:
        """Add a requirement."""
        match operator:
            case "In" if values:  # without values, it is reported as such
                self.allowed = set(values) if self.allowed is None else self.allowed & set(values)
            case "NotIn":
                self.denied |= set(values)
            case "DoesNotExist":
                self.absent = True
            case "Gt" | "Lt" if len(values) == 1 and (number := _whole(values[0])) is not None:
                if operator == "Gt":
                    self.above = max(self.above, number)
                else:
                    self.below = min(self.below, number)
            case _:
                pass
        self.present = self.present or operator in ("In", "Exists", "Gt", "Lt")

    @property
    def possible(self) -> bool:
        """Whether a value, or no label, satisfies all requirements."""
        if self.absent:
            return not self.present
        ordered = self.above > float("-inf") or self.below < float("inf")
        if self.allowed is None:
            return self.below - self.above > 1
        return any(
            value not in self.denied
            and (not ordered or ((number := _whole(value)) is not None and self.above < number < self.below))
            for value in self.allowed
        )


def _whole(text: str) -> int | None:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else None


def _said(key: str, operator: str, values: list[str]) -> str:
    """A requirement as text."""
    listed = ", ".join(values)
    match operator:
        case "In":
            return f"`{key}={listed}`" if len(values) == 1 else f"`{key}` in ({listed})"
        case "NotIn":
            return f"`{key}` not in ({listed})"
        case "Exists":
            return f"`{key}`"
        case "DoesNotExist":
            return f"no `{key}`"
        case _:
            return f"`{key}` {'above' if operator == 'Gt' else 'below'} {listed}"
