"""Deadlocks: locks that are waited for inside of what holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.compiler.findings import control as findings
from flowdsl.compiler.options.control import lock_said
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.places.place import Argument, Definition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.places.place import Place

#: Where each lock that is held was requested, and by what.
Held = dict[ir.Lock, tuple[str, "Place"]]


def locks_inside(program: ir.Program) -> Iterator[Diagnostic]:
    """Every lock that a template waits for while a graph around it, or the run, holds it.

    Argo gives a lock to a node or to a whole workflow, and does not know of nested holders.
    """
    templates = {one.name: one for one in program.templates}
    locked = [one for one in program.templates if one.settings.control.locks]
    wanted: tuple[ir.Lock, ...] = program.options.get("locks", ())
    if not locked:
        return
    held: Held = dict.fromkeys(wanted, (program.name, program.places.get("locks", program.place)))
    seen: set[tuple[str, frozenset[ir.Lock]]] = set()
    told: set[tuple[str, str, ir.Lock]] = set()
    todo = [(name, held) for name in (program.entrypoint, program.exit) if name]
    while todo:
        name, held = todo.pop()
        template = templates.get(name)
        if template is None or (name, frozenset(held)) in seen:
            continue
        seen.add((name, frozenset(held)))
        place = template.places.get("locks", template.place)
        called = template.place.code.co_name if isinstance(template.place, Definition) else name
        here: Held = {}
        for index, lock in enumerate(template.settings.control.locks):
            at = place._replace(path=(index,)) if isinstance(place, Argument) else place
            here[lock] = called, at
            if lock in held and (called, held[lock][0], lock) not in told:
                outer, where = held[lock]
                told.add((called, outer, lock))
                finding = findings.LockInside(called, f"`{outer}`", lock_said(lock))
                yield Diagnostic(finding, at, (Related(where, "held from here on"),))
        if isinstance(template.body, ir.Graph):
            todo += [(task.template, {**held, **here}) for task in template.body.tasks]
