"""Fields of pods and claims that Kubernetes rejects only when Argo creates the object in the middle of a run.

Texts with tags are left alone: Argo fills them in.
Source: Kubernetes 1.35, pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.template import Template
from flowdsl.compiler.lint.manifest.typed import typed, typed_below
from flowdsl.compiler.lint.pods.findings import Alternatives, Incomplete, NotForPods
from flowdsl.compiler.lint.pods.pod_fields import NEEDED, NEVER_EMPTY, ONE_OF, RANGES, WORDS
from flowdsl.compiler.lint.pods.pod_rules import OWN, last_field, title
from flowdsl.compiler.lint.pods.pod_texts import FORMS, NAMES
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.schema.findings import NotOneOf, OutOfRange, dotted, within
from flowdsl.compiler.tree import entries, entries_at, is_list, string
from flowdsl.diagnostic import Finding, near
from flowdsl.grammar.template import is_filled, may_be

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, TypeVar

    from flowdsl.compiler.lint.manifest.typed import Typed
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.lint.pods.pod_fields import Field
    from flowdsl.compiler.lint.pods.pod_rules import Rule
    from flowdsl.compiler.tree import Object, Path

    T = TypeVar("T")
    Table = dict[str, list[tuple[tuple[str, ...], T]]]


def fields(view: View) -> Iterator[Problem]:
    """Fields of pods and claims have values that Kubernetes accepts."""
    idle = _idle(view)
    for found in typed(view, _WANTED):
        if found.path[: len(view.path) + 2] in idle:
            continue
        for rule in _RULES[found.type]:
            yield from rule(found)


def _idle(view: View) -> set[Path]:
    """The volumes of the spec that no template mounts: Argo leaves them out of pods. Source: addVolumeReferences."""
    volumes = entries(view.spec, "volumes")
    if not volumes:
        return set()
    templates = [*view.templates, Template(view.defaults, ())]
    templates += view.base.templates if view.base is not None else ()
    mounted = {string(mount, "name") for template in templates for _, mount in template.mounts}
    if any("{{" in name for name in mounted):
        return set()
    names = [string(volume, "name") for volume in volumes]
    return {(*view.path, "volumes", at) for at, name in enumerate(names) if name not in mounted}


def _words(found: Typed) -> Iterator[Problem]:
    for path, word, choices in _values(found, _WORDS):
        if not isinstance(word, str) or (not word and _is_left_out(found, path)):
            continue
        if word not in choices and not is_filled(word):
            yield Problem(path, NotOneOf(dotted(path), word, choices))


def _is_left_out(found: Typed, path: Path) -> bool:
    """Whether an empty text counts as left out. In a list, a null entry is no text either."""
    return not isinstance(path[-1], int) and (found.type, *path[len(found.path) :]) not in NEVER_EMPTY


def _ranges(found: Typed) -> Iterator[Problem]:
    for path, value, (least, most, way) in _values(found, _RANGES):
        if isinstance(value, int) and not (least <= value and (most is None or value <= most)):
            bounds = within(least, most)
            said = way or f"write a number {f'from {least}' if most is None else f'in the range {bounds}'}"
            yield Problem(path, OutOfRange(dotted(path), value, bounds, said))


def _forms(found: Typed) -> Iterator[Problem]:
    for path, text, form in _values(found, _FORMS):
        if not isinstance(text, str) or (not text and _is_left_out(found, path)):
            continue
        if not (may_be(form.fits, text) if form.fits in NAMES else is_filled(text) or form.fits(text)):
            yield Problem(path, NotForPods(form.what, text, form.reason, form.way))


def _needed(found: Typed) -> Iterator[Problem]:
    for steps, way in _NEEDED[found.type]:
        owner: Any = found.data
        for step in steps[:-1]:
            owner = None if owner is None else owner.get(step)
        if owner is not None and not owner.get(steps[-1]):
            path = (*found.path, *steps[:-1])
            yield Problem(path, Incomplete(last_field(path), f"`{steps[-1]}`", way))


def _values(found: Typed, table: Table[T]) -> Iterator[tuple[Path, Any, T]]:
    """The values of an object's fields, each with its path and its entry in the table."""
    for steps, said in table[found.type]:
        value: Any = found.data
        for step in steps:
            value = None if value is None else value.get(step)
        path = (*found.path, *steps)
        if is_list(value):
            for at, each in enumerate(value):
                yield (*path, at), each, said
        else:
            yield path, value, said


def _alternatives(found: Typed) -> Iterator[Problem]:
    choices, needed = ONE_OF[found.type]
    named = choices or tuple(field for field in found.data if field != "name")
    given = [field for field in named if found.data.get(field) not in (None, "", [])]
    if len(given) > 1:
        both = " and ".join(f"`{field}`" for field in given)
        yield Problem(
            found.path,
            Alternatives(f"{title(found)} has {both} at once", "keep one of them"),
        )
    elif needed and not given:
        way = "add one of " + ", ".join(f"`{field}`" for field in choices)
        yield Problem(found.path, Alternatives(f"{title(found)} says nothing of what it is for", way))


def _by_type(table: Mapping[Field, T]) -> Table[T]:
    """The entries of a table by the type of their object."""
    found: Table[T] = {}
    for (owner, *steps), said in table.items():
        found.setdefault(owner, []).append((tuple(steps), said))
    return found


_WORDS, _RANGES, _FORMS, _NEEDED = _by_type(WORDS), _by_type(RANGES), _by_type(FORMS), _by_type(NEEDED)


def _rules() -> dict[str, list[Rule]]:
    """The rules for the objects of each type."""
    found: dict[str, list[Rule]] = {}
    tables: tuple[tuple[Iterable[str], Rule], ...] = (
        (_WORDS, _words),
        (_RANGES, _ranges),
        (_FORMS, _forms),
        (_NEEDED, _needed),
        (ONE_OF, _alternatives),
    )
    for table, rule in tables:
        for name in table:
            found.setdefault(name, []).append(rule)
    for name, rule in OWN.items():
        found.setdefault(name, []).append(rule)
    return found


def values(name: str, data: Object) -> Iterator[Finding]:
    """What is wrong with the values below an object of a type, whatever else is merged into it."""
    for found in typed_below(name, data, _WANTED):
        for table, rule in ((_WORDS, _words), (_RANGES, _ranges), (_FORMS, _forms)):
            if found.type in table:
                yield from (problem.finding for problem in rule(found))


def whole(name: str, data: Object, path: Path) -> Iterator[Finding]:
    """What is wrong with an object of a type into which nothing else is merged, and with what is below it."""
    for found in typed_below(name, data, _WANTED):
        here = found._replace(path=(*path, *found.path))
        for rule in _RULES[found.type]:
            yield from (problem.finding for problem in rule(here))


_RULES = _rules()
_WANTED = frozenset(_RULES)


def claims(view: View) -> Iterator[Problem]:
    """The claims of a workflow have names, by which its pods mount them, and a spec."""
    for path, claim in entries_at(view.spec, view.path, "volumeClaimTemplates"):
        if not string(claim, "metadata", "name"):
            yield Problem(
                path, Incomplete("the claim", "`metadata.name`", "add the name that `volumeMounts` uses")
            )
        if claim.get("spec") is None:  # if it is empty, each part is reported
            way = "add `spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}`"
            yield Problem(path, Incomplete("the claim", "`spec`", way))


def resource_claims(view: View) -> Iterator[Problem]:
    """Resource claims of containers are claims of their pod. Source: Kubernetes, validateResourceClaimNames."""
    specs = [each.spec for each in (view, view.base) if each is not None]
    shared = {string(claim, "name") for spec in specs for claim in entries(spec, "resourceClaims")}
    # A workflow that uses the template may add claims.
    is_whole = view.runs and not view.external
    for template in view.templates:
        owners = (template.data, view.defaults)
        own = {string(claim, "name") for owner in owners for claim in entries(owner, "resourceClaims")}
        known = own or shared
        if not (own or is_whole):
            continue
        for place, container in template.containers:
            for path, claim in entries_at(container, (*template.path, *place), "resources", "claims"):
                name = string(claim, "name")
                if name and name not in known and "{{" not in name:
                    close = near(name, known)
                    reason = f"did you mean `{close}`?" if close else "the pod has no such claim"
                    way = "declare it in `resourceClaims` of the template or of the spec"
                    finding = NotForPods("the claim of a container", name, reason, way)
                    yield Problem((*path, "name"), finding)
