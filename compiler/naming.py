"""Names of tasks and templates: DNS-safe, made here, once.

A task is named by the variable its result goes to, else by its step; repeats of one statement by
their constants. The name depends on the statement alone as far as it can, so that inserting a call
renames no other task. A name that Argo could not read where another task depends on it counts as taken.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.findings.options import RunTimeOption
from flowdsl.compiler.findings.tasks import AlikeCalls, BadTaskName, SameName
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.grammar.digest import sha256
from flowdsl.grammar.names import dns_name, is_depended_upon, is_dns_label
from flowdsl.places.place import Argument
from flowdsl.values.expr import Const
from flowdsl.values.later import of_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.diagnostic import Finding
    from flowdsl.places.place import Site
    from flowdsl.tracing.trace import Call

_LONGEST = 50  # leaves room in 63 for a suffix against duplicates
_PART = 20
_NONE = object()


def hexadecimal(text: str) -> str:
    """The first four hex digits of the SHA-256 of a text."""
    return sha256(text.encode()).hexdigest()[:4]


@cache
def slug(text: str) -> str:
    """A DNS label for an identifier; a name without usable characters becomes hex digits."""
    name = dns_name(text, _LONGEST)
    return name if name and name[0].isalpha() else f"x-{name or hexadecimal(text)}"


def volume_name(claim: str) -> str:
    """The name of a volume in the manifest, from its claim, whose name may have dots and be long."""
    return claim if is_dns_label(claim) else f"{dns_name(claim, _LONGEST)}-{hexadecimal(claim)}"


class _Taken(dict[str, "Call"]):
    """The calls of a graph by their names; for a name with several candidates, the last free number."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: dict[str, int] = {}


def task_names(
    calls: list[Call], assigned: Callable[[Site], str | None]
) -> tuple[dict[int, str], list[Diagnostic]]:
    """The names of the calls of one graph, by the id of the call, and the errors in them."""
    diagnostics: list[Diagnostic] = []
    names: dict[int, str] = {}
    statements: dict[tuple[int, int], list[Call]] = defaultdict(list)
    taken = _Taken()
    for call in calls:
        if call.name is not None:
            _claim(call, taken, names, diagnostics)
        else:
            statements[id(call.site.code), call.site.lasti].append(call)
    for repeats in statements.values():
        first = repeats[0]
        variable = assigned(first.site)
        base = slug(variable or first.target.name)
        if len(repeats) == 1 and _is_free(base, taken):
            taken[base] = first
            names[id(first)] = base
            continue
        marks = _marks(repeats)
        if not all(_is_free("-".join((base, *mark)), taken) for mark in marks):
            base = _other(base, first, variable, taken, diagnostics)
        for call, mark in zip(repeats, marks, strict=True):
            name = _free("-".join((base, *mark)), taken)
            taken[name] = call
            names[id(call)] = name
    return names, diagnostics


def _claim(call: Call, taken: _Taken, names: dict[int, str], diagnostics: list[Diagnostic]) -> None:
    asked: Any = call.name
    place = Argument(call.override, "name") if call.override is not None else call.site
    if (finding := _unfit(asked)) is not None:
        diagnostics.append(Diagnostic(finding, place))
        names[id(call)] = slug(call.target.name)
        return
    name = dns_name(asked)
    if name in taken:
        other = taken[name].site
        repeated = (other.code, other.lasti) == (call.site.code, call.site.lasti)
        related = () if repeated else (Related(other, "the other one"),)
        diagnostics.append(Diagnostic(SameName(name, repeated), place, related))
    taken[name] = call
    names[id(call)] = name


def _unfit(asked: Any) -> Finding | None:
    """Why the value of `name=` cannot be the name of a task, or None."""
    if of_run(asked):
        return RunTimeOption("name")
    if not isinstance(asked, str):
        return BadTaskName(repr(asked), "a task", "not a string")
    name = dns_name(asked)
    if not name:
        return BadTaskName(asked, "a task", "it has no ASCII letter or digit")
    if not name[0].isalpha():
        return BadTaskName(asked, "a task", "it begins with a digit")
    if not is_depended_upon(name):
        return BadTaskName(asked, "a task", "to Argo it is a word of expressions")
    return None


def _is_free(name: str, taken: _Taken) -> bool:
    """Whether a name is still available for a task."""
    return name not in taken and is_depended_upon(name)


def _other(base: str, call: Call, variable: str | None, taken: _Taken, diagnostics: list[Diagnostic]) -> str:
    """Another name for a statement whose name is taken: from its step, or from its constants."""
    step = slug(call.target.name)
    if variable is not None and _is_free(f"{base}-{step}", taken):
        return f"{base}-{step}"
    others = _constants(taken[base]) if base in taken else {}
    different = {name: value for name, value in _constants(call).items() if others.get(name, _NONE) != value}
    marks = "-".join(filter(None, map(_shown, different.values())))
    if marks and _is_free(name := dns_name(f"{base}-{marks}", _LONGEST), taken):
        return name
    if variable is None and base in taken:
        diagnostics.append(
            Diagnostic(
                AlikeCalls(base, call.target.name),
                call.site,
                (Related(taken[base].site, "the other one"),),
            )
        )
    return _free(base, taken)


def _marks(repeats: list[Call]) -> list[tuple[str, ...]]:
    """What distinguishes the runs of one statement: the constants in which they differ, else their number."""
    if len(repeats) == 1:
        return [()]
    everything = [{name: _shown(value) for name, value in _constants(one).items()} for one in repeats]
    differing = [name for name in everything[0] if len({one.get(name) for one in everything}) > 1]
    marks = [tuple(filter(None, (one.get(name) for name in differing))) for one in everything]
    if len(set(marks)) == len(marks):
        return marks
    return [(*mark, str(number)) for number, mark in enumerate(marks, 1)]


def _free(wish: str, taken: _Taken) -> str:
    name = dns_name(wish)
    if _is_free(name, taken):
        return name
    number = taken.numbers.get(wish, 2)
    while not _is_free(name := dns_name(f"{wish}-{number}"), taken):
        number += 1
    taken.numbers[wish] = number
    return name


def _constants(call: Call) -> dict[str, Any]:
    return {name: expr.value for name, expr in call.arguments.items() if isinstance(expr, Const)}


def _shown(value: Any) -> str:
    text = value.name if isinstance(value, enum.Enum) else str(value)
    if (isinstance(value, float) and value < 0) or (isinstance(value, int) and value < 0):
        text = f"minus {abs(value)}"
    name = dns_name(text)
    return name if 0 < len(name) <= _PART else hexadecimal(text)


class Templates:
    """Names for templates: the first of a name keeps it, others get hex digits of their difference."""

    def __init__(self) -> None:
        self._taken: dict[str, str] = {}

    def name(self, wish: str, difference: str) -> str:
        """A free name for a template."""
        name = slug(wish)
        if self._taken.setdefault(name, difference) == difference:
            return name
        name = f"{name}-{hexadecimal(difference)}"
        while self._taken.setdefault(name, difference) != difference:
            name = f"{name}-{hexadecimal(name + difference)}"
        return name
