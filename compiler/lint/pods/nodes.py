"""Node selectors, affinities and tolerations that no node can satisfy together: the pod stays pending."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.pods.objects import pods_in
from flowdsl.compiler.lint.pods.untyped import WORD
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries_at, inside, is_list, is_mapping, string, value_at
from flowdsl.diagnostic import Finding
from flowdsl.grammar.template import is_filled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path

_TERMS = (
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
)


class NoSuchNode(Finding):
    """Requirements on one node label that exclude each other."""

    code = "FD843"
    title = "no node has both {one} and {other}"
    label = "the pod would wait forever"
    help = "remove one of the two"
    one: str
    other: str


def demands(view: View) -> Iterator[Problem]:
    """Some node can satisfy the selector and the affinity of a pod, in one of its alternatives."""
    for owner, path in view.owners:
        if (found := _none(owner, path)) is not None:
            yield found
    for template in view.templates:
        manifest = string(template.data, "resource", "manifest")
        if _TERMS[-1] in manifest:  # of pods that Argo does not create
            found = next(filter(None, (_none(pod, ()) for pod in pods_in(manifest) if _is_read(pod))), None)
            if found is not None:
                yield found._replace(path=(*template.path, "resource", "manifest"))


def _none(pod: Object, path: Path) -> Problem | None:
    """Why no node satisfies a pod's requirements, in any of its alternatives."""
    selector = {str(key): str(text) for key, text in inside(pod, "nodeSelector").items()}
    found = [
        _clash(selector, entries_at(term, place, "matchExpressions"))
        for place, term in entries_at(pod, path, *_TERMS)
    ]
    return found[0] if found and all(found) else None


def _is_read(pod: Object) -> bool:
    """Whether the scheduling fields of a pod in a manifest have the form that Kubernetes reads."""
    terms: object = value_at(pod, _TERMS)
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
