"""Deadlocks: a lock that one part of a run holds and a part inside of it waits for."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.control import LockInside
from flowdsl.compiler.lint.workflow.passed_values import with_values
from flowdsl.compiler.merge import OF_TEMPLATES, merged
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, entries_at, inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.template import TAG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path

    Held = tuple[str, str, bool]


class Kept(Finding):
    """The lock of a suspend template that ends by its duration, where Argo does not release it."""

    code = "FD837"
    severity = "warning"
    title = "Argo keeps this lock until the run ends, once the `duration` of `{template}` is over"
    label = "`{call}` {where}, where Argo does not visit it again, and `{other}` takes the lock too"
    help = (
        "give `{template}` a `retryStrategy`, with which Argo releases the lock, or take the lock in what "
        "follows"
    )
    template: str
    call: str
    where: str
    other: str


class PlaceInside(Finding):
    """A template that waits for a second place of a semaphore, while its caller, or the task of a hook, holds one."""

    code = "FD886"
    severity = "warning"
    title = "{inner} waits for a second place of the semaphore {lock}, of which {outer} holds one"
    label = "with a limit of 1, it waits forever; with more, as soon as all places are held so"
    help = "let one of the two take the semaphore"
    inner: str
    outer: str
    lock: str


class HookWaits(Finding):
    """A hook that waits for a lock of its own task, which releases it when its hooks have ended."""

    code = "FD895"
    title = (
        "hook `{hook}` of `{task}` waits for the lock `{lock}`, which `{task}` keeps until the hook has ended"
    )
    label = "both wait forever"
    help = "take the lock in only one of them, or name the hook `exit`, which runs when the lock is free"
    hook: str
    task: str
    lock: str


def hooked(view: View) -> Iterator[Problem]:
    """No hook of a task in a DAG waits for a mutex or semaphore slot of the task.

    Argo looks at the hooks of a task that has ended before it releases the lock; after that, it runs the hook
    `exit`. In a list of steps the lock is released first. Source: executeDAGTask in workflow/controller/dag.go
    of Argo 4.1, and a real controller.
    """
    inside_of: dict[int, set[tuple[bool, Held]]] = {}
    locks_in = _locks_in(view)

    def locks_of(template: Template) -> set[tuple[bool, Held]]:
        return {(part[0] == "semaphores", lock) for part, lock in locks_in(template)}

    for hook in view.calls:
        task, runs = hook.parent, hook.callee
        if task is None or not task.is_task or task.callee is None or runs is None or hook.title == "exit":
            continue
        locks = locks_of(task.callee)
        if locks and id(runs) not in inside_of:
            around = (runs, *below(view, runs))
            inside_of[id(runs)] = {lock for template in around for lock in locks_of(template)}
        if found := locks and locks & inside_of[id(runs)]:
            shared, (_, name, _) = min(found)
            waits: Finding = HookWaits(hook.title, task.title, name)
            if shared:
                inner = f"hook `{hook.title}` of `{task.title}`"
                waits = PlaceInside(inner, f"`{task.title}`", f"`{name.lstrip('/')}`")
            yield Problem(hook.path, waits, on_key=True)


def held(view: View) -> Iterator[Problem]:
    """No template waits for a mutex or semaphore slot that one of its callers holds: neither ever ends.

    Source: Argo Workflows, TryAcquire of workflow/sync, where a run and each of its nodes are holders, and
    mergedTemplateDefaultsInto: a lock of all templates is also one of those that call others.
    """
    outer: list[Template | None] = [None, *(each for each in view.templates if each.calls)]
    told: set[Path] = set()
    locks_in = _locks_in(view)
    for caller in outer:
        holder = "the workflow" if caller is None else f"`{caller.title}`"
        locks = {lock for _, lock in (_locks(view, view.spec) if caller is None else locks_in(caller))}
        if not locks:
            continue
        for template in view.templates if caller is None else below(view, caller):
            for part, lock in locks_in(template):
                if lock not in locks:
                    continue
                own = inside(template.data, "synchronization").get(str(part[0]))
                owner_path = template.path if own else (*view.path, "templateDefaults")
                path = (*owner_path, "synchronization", *part)
                if path not in told:
                    told.add(path)
                    name, inner = f"`{lock[1].lstrip('/')}`", template.title
                    yield Problem(
                        path,
                        LockInside(inner, holder, name)
                        if part[0] == "mutexes"
                        else PlaceInside(f"`{inner}`", f"{holder} around it", name),
                    )


def handed_on(view: View) -> Iterator[Problem]:
    """No call names a mutex of its caller in an argument, which the called template waits for by that name."""
    told: set[Path] = set()
    for caller in view.templates:
        held = {_lock(view, each) for each in entries(_locking(view, caller), *_MUTEXES)}
        for call in caller.calls if held else ():
            callee = call.callee
            if callee is None or view.at.get(callee.path) is not callee:
                continue  # it is in another document
            given = {
                f"inputs.parameters.{each.get('name')}": with_values(view, string(each, "value"))
                for each in entries(call.data, "arguments", "parameters")
            }
            for path, lock in entries_at(callee.data, callee.path, *_MUTEXES):
                written = string(lock, "name")
                key = _lock(view, {**lock, "name": _filled(written, given)})
                own = {
                    each
                    for tag in TAG.finditer(written)
                    if not (each := tag[1].strip()).startswith("workflow.")
                }
                if own and own <= given.keys() and key in held and path not in told:
                    told.add(path)
                    yield Problem(path, LockInside(callee.title, f"`{caller.title}`", f"`{key[1]}`"))


_MUTEXES = ("synchronization", "mutexes")


def _filled(text: str, values: Mapping[str, str]) -> str:
    return TAG.sub(lambda tag: values.get(tag[1].strip(), tag[0]), text)


def _lock(view: View, lock: Object) -> Held:
    """A mutex, whose name is still that of its template."""
    return string(lock, "namespace"), with_values(view, string(lock, "name")), bool(lock.get("database"))


def kept(view: View) -> Iterator[Problem]:
    """A `suspend` template releases its lock when its duration is over.

    It does if Argo visits it once more: not the items of a completed loop, nor the last node of a completed
    template. Source: executeTemplate, executeSuspend and executeDAGTask in workflow/controller of Argo 4.1,
    and a real controller.
    """
    found = [
        each for each in view.templates if string(each.data, "suspend", "duration") and not view.tries(each)
    ]
    found = [each for each in found if each.data.get("synchronization")]
    users: dict[Held, list[Call]] = defaultdict(list)
    callers: dict[int, list[Call]] = defaultdict(list)
    for call in view.calls if found else ():
        if call.parent is None and call.callee is not None:
            callers[id(call.callee)].append(call)
            for _, lock in _mutexes(view, call.callee.data):
                users[lock].append(call)
    for template in found:
        for index, lock in _mutexes(view, template.data):
            for call in callers[id(template)]:
                loops = bool(call.loop) and call.owner.body == "dag"
                around = callers[id(call.owner)]
                last = bool(around) and any(one is call for one in call.owner.last)
                others = [one for one in users[lock] if one is not call] or around[1:]
                others = others or [one for one in around if one.loop]
                if (loops or last) and others:
                    where = "is a loop" if loops else f"is what `{call.owner.title}` ends with"
                    path = (*template.path, *_MUTEXES, index)
                    yield Problem(path, Kept(template.title, call.title, where, others[0].title))
                    break


def _locking(view: View, template: Template) -> Object:
    """The `synchronization` of a template, with that of all templates."""
    shared, own = (inside(each, "synchronization") for each in (view.defaults, template.data))
    return {"synchronization": merged(shared, own, OF_TEMPLATES)}


def _mutexes(view: View, owner: Object) -> Iterator[tuple[int, Held]]:
    """The mutexes of a template or spec, each with its position; a name is known if it is the same for the run."""
    for index, lock in enumerate(entries(owner, *_MUTEXES)):
        held = _lock(view, lock)
        if held[1] and all(part.startswith("workflow.") for part in held[1].replace(" ", "").split("{{")[1:]):
            yield index, held


def _locks(view: View, owner: Object) -> Iterator[tuple[Path, Held]]:
    """The mutexes and semaphores of a template or spec, each with its path."""
    for index, lock in _mutexes(view, owner):
        yield ("mutexes", index), lock
    for index, each in enumerate(entries(owner, "synchronization", "semaphores")):
        source = next((one for one in ("configMapKeyRef", "database") if each.get(one)), "")
        name, key = string(each, source, "name"), string(each, source, "key")
        if key and "{{" not in f"{name}{key}":
            place: Held = string(each, "namespace"), f"{name}/{key}", source == "database"
            yield ("semaphores", index), place


def _locks_in(view: View) -> Callable[[Template], list[tuple[Path, Held]]]:
    """The mutexes and semaphores of each template, with those of all templates, which are read once."""

    @cache
    def locks_in(template: Template) -> list[tuple[Path, Held]]:
        return [*_locks(view, _locking(view, template))]

    return locks_in


def below(view: View, template: Template) -> list[Template]:
    """The templates that run within another one, since it or its hooks call them."""
    found: dict[int, Template] = {}
    left = view.run_by(template)
    for each in left:  # grows while it is walked
        if id(each) not in found:
            found[id(each)] = each
            left += view.run_by(each)
    return list(found.values())
