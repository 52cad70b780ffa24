"""Runs a part of an earlier run again: steps and all that follows them, or a step alone."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import STORES
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.reason import said
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local import journal
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.names import any_string
from flowdsl.runtime.local.earlier import state
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.places import file_of, link, linked
from flowdsl.runtime.local.pods.store import place, stored_at
from flowdsl.runtime.logs.source import place as way
from flowdsl.runtime.names import hyphened, said_near, task_of
from flowdsl.runtime.parts import name_of, part, several
from flowdsl.runtime.phases import SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from flowdsl.runtime.local.controller.node import Node

Json = dict[str, Any]

_STEPS = ("Pod", "Suspend", "HTTP", "DAG", "Steps", "Retry")
_LABEL = regex(r"\((\d+):[^()]*\)$")
_SHOWN = 5
_BY_ITSELF = frozenset((*STORES, "git", "http", "raw", "value", "valueFrom", "default"))
"""The fields of an input that has a value without an argument."""
_BETWEEN = regex(r"[,\s]+")
"""What people write between several names."""
_HOOK = regex(r"\.onExit|\.hooks\.")


class _Ended(NamedTuple):
    """How a pod of the earlier run ended, and the node to which its logs belong."""

    outcome: events.Outcome
    node: str


class Earlier:
    """An earlier run: the results of its steps, and their logs, for all but some steps and their successors."""

    def __init__(self, folder: Path, target: Path, steps: Sequence[str], run: str, option: str) -> None:
        try:
            inputs, _, past, _ = journal.read(journal.of_run(folder))
            self.status = state(folder)
        except (RunError, OSError, ValueError) as error:
            raise RunError(f"the run in {folder} cannot be used: {said(error)}") from None
        self._from, self._target = folder, target
        self._store = folder / "artifacts"
        self.called = f"from {folder.name}"
        self._documents = [inputs.manifest, *inputs.references]
        self._name = name_of(inputs.manifest)
        self._run = run
        nodes = part(part(self.status, "status"), "nodes")
        again: set[str] = set()
        for step in steps:
            found = _named(nodes.values(), step, self._name)
            if not found:
                known = _tasks(nodes.values(), self._name, (*_STEPS, "Skipped"))
                parts = [one for one in _BETWEEN.split(step) if one]
                apart = option == "--from" and all(_named(nodes.values(), one, self._name) for one in parts)
                several_said = " ".join(f"{option} {shlex.quote(one)}" for one in parts)
                more = f"; several are {several_said}" if apart else said_near(step, known)
                raise RunError(f"{option} {step}: the run {self._name} has no step `{step}`{more}")
            again |= _following(nodes, found, self._name)
        self._moved: dict[str, str] = {}
        """The keys of files in the earlier run, and their keys in this one."""
        kept = _kept(past, nodes, again | self._gone(nodes, again))
        self._kept = {name: one._replace(outcome=self._renamed(one.outcome)) for name, one in kept.items()}
        self._answers = _answers(nodes, again)
        inside = {str(node["name"]): task_of(node["name"], self._name) for node in nodes.values()}
        open_steps = {task for name, task in inside.items() if name not in self._kept}
        self.names = frozenset(inside[name] for name in self._kept) - open_steps
        """The tasks of which no part runs again."""

    def _gone(self, nodes: Json, again: set[str]) -> set[str]:
        """The nodes whose objects no longer exist, and are awaited by a sibling that runs again."""
        known = {
            str(one["name"]): one
            for document in self._documents
            for one in several(part(document, "spec"), "templates")
            if "resource" in one and "name" in one
        }
        if not known:
            return set()
        from flowdsl.runtime.local.pods.jobs import does

        done = {each: does(known.get(str(node.get("templateName")), {})) for each, node in nodes.items()}
        awaited = {nodes[each].get("boundaryID") for each in again if "awaits" in done.get(each, ())}
        return {
            each
            for each, found in done.items()
            if found and "awaits" not in found and nodes[each].get("boundaryID") in awaited
        }

    def _renamed(self, outcome: events.Outcome) -> events.Outcome:
        """The outcome with the keys that this run gives its files: a list of files is found by its folder alone."""
        outputs = outcome.outputs or {}
        artifacts = [self._with_key(one) for one in several(outputs, "artifacts")]
        return outcome._replace(outputs={**outputs, "artifacts": artifacts}) if artifacts else outcome

    def _with_key(self, artifact: Json) -> Json:
        kind, key = place(artifact)
        parts = key.split("/")
        if self._name not in parts or file_of(artifact, self._from) is None:
            return artifact
        self._moved[key] = "/".join(self._run if one == self._name else one for one in parts)
        return {**artifact, kind: {**artifact[kind], STORES[kind]: self._moved[key]}}

    def made(self) -> list[Json]:
        """The artifacts of the steps that do not run again."""
        return [
            one for each in self._kept.values() for one in several(each.outcome.outputs or {}, "artifacts")
        ]

    def check(self, artifacts: Iterable[Json], option: str) -> None:
        """Refuse artifacts whose files are gone: one that is optional may not have been made. Raises RunError."""
        made = {place(one)[1] for one in self.made()}
        keys = {key: key in made or not one.get("optional") for one in artifacts if (key := place(one)[1])}
        moved = set(self._moved.values())
        files = [stored_at(self._store, key) for key, sure in keys.items() if sure and key not in moved]
        gone = next((path for path in (self._store, *files) if not path.exists()), None)
        if keys and gone is not None:
            raise RunError(
                f"{option}: the files of the run {self._from.name} are gone: there is no {gone}; run all of it again"
            )

    def keys(self) -> frozenset[str]:
        """The keys of the files and folders that the earlier run stored."""
        return frozenset(path.relative_to(self._store).as_posix() for path in self._store.rglob("*"))

    def bring(self) -> None:
        """Make the files of the earlier run available to this one."""
        before, now = self._store, self._target / "artifacts"
        if before.is_dir():
            shutil.copytree(before, now, copy_function=link, dirs_exist_ok=True)
        for key, moved in self._moved.items():
            linked(stored_at(before, key), stored_at(now, moved))

    def __call__(self, pod: events.StartPod) -> events.Outcome | None:
        """The outcome of the step of the same name in the earlier run, if it is not to run again. Links its logs."""
        kept = self._kept.get(self._name + pod.name.removeprefix(self._run))
        if kept is None:
            return None
        logs = self._from / "logs" / kept.node
        if logs.is_dir():
            linked(logs, self._target / "logs" / pod.node)
        return kept.outcome

    def supplied(self, node: Node) -> dict[str, str] | None:
        """The answer that a suspended step got in the earlier run."""
        return self._answers.get(self._name + node.name.removeprefix(self._run))


def _tasks(nodes: Iterable[Json], run: str, types: Iterable[str]) -> list[str]:
    """The names of the tasks of nodes of some types."""
    wanted = set(types)
    named = (task_of(node["name"], run) for node in nodes if node["type"] in wanted and node["name"] != run)
    return list(dict.fromkeys(named))


def _borne(node: Json, nodes: Json) -> bool:
    """Whether something that contains a node succeeded nevertheless."""
    at: Json | None = nodes.get(node.get("boundaryID", ""))
    while at is not None and at["phase"] != SUCCEEDED:
        at = nodes.get(at.get("boundaryID", ""))
    return at is not None


def _following(nodes: Json, first: Iterable[Json], run: str) -> set[str]:
    """Nodes with all of their successors: including their hooks, and those of the run."""
    waiting = [str(node["id"]) for node in first]
    hooks: dict[str, list[str]] = {}
    for identity, node in nodes.items():
        for mark in _HOOK.finditer(node["name"]):
            hooks.setdefault(node["name"][: mark.start()], []).append(identity)
    if waiting:
        waiting += hooks.get(run, ())
    found: set[str] = set()
    while waiting:
        identity = waiting.pop()
        if identity in found or identity not in nodes:
            continue
        found.add(identity)
        at: Json = nodes[identity]
        waiting.extend(at.get("children") or [])
        waiting.extend(at.get("outboundNodes") or [])
        waiting.extend(hooks.get(at["name"], ()))
    return found


def _kept(past: Iterable[events.Event], nodes: Json, again: Collection[str]) -> dict[str, _Ended]:
    """How pods that do not run again ended, by node name; an attempt that succeeded becomes the first one."""
    outcomes = {event.node: event.outcome for event in past if isinstance(event, events.PodEnded)}
    kept = {
        str(nodes[identity]["name"]): _Ended(outcome, identity)
        for identity, outcome in outcomes.items()
        if identity in nodes
        and identity not in again
        and not nodes[identity].get("podIP")  # a daemon: steps that run again need a running one
        and (outcome.phase == SUCCEEDED or _borne(nodes[identity], nodes))
    }
    for node in nodes.values():
        if node["type"] == "Retry" and node["phase"] == SUCCEEDED:
            children: list[str] = node.get("children") or []
            below = (nodes[one] for one in children if one in nodes)
            names = [str(one["name"]) for one in below if part(one, "nodeFlag").get("retried")]
            last = next((kept[one] for one in reversed(names) if one in kept), None)
            if last is not None:
                kept[f"{node['name']}(0)"] = last
    return kept


def _answers(nodes: Json, again: Collection[str]) -> dict[str, dict[str, str]]:
    """The answers of suspended steps that do not run again, by node name."""
    return {
        str(node["name"]): {
            str(one["name"]): any_string(one["value"]) for one in several(part(node, "outputs"), "parameters")
        }
        for node in nodes.values()
        if node["type"] == "Suspend" and node["phase"] == SUCCEEDED and node["id"] not in again
    }


def _named(nodes: Collection[Json], step: str, run: str) -> list[Json]:
    """The nodes of a step: of the tasks of that name, or if there are none, of those that call that function."""
    plain = hyphened(step)
    for wanted in (step, plain):
        if found := [node for node in nodes if _is(node, wanted, run)]:
            return found
    alone = [node for node in nodes if node["name"] != run or node["type"] in _STEPS]
    return [node for node in alone if node.get("templateName") == plain]


def _is(node: Json, step: str, run: str) -> bool:
    name = node["displayName"]
    if step in (name, _LABEL.sub(r"(\1)", name), task_of(node["name"], run)):
        return True
    return not {".", "("}.isdisjoint(step) and way(run, node["name"]).ends(step)


def _with_others(step: str, node: Json, nodes: Sequence[Json], spec: Json, run: str) -> None:
    """Refuse a step that waits for the object of a sibling: alone it has none. Raises RunError."""
    from flowdsl.runtime.local.pods.jobs import does

    known = {str(one.get("name")): one for one in several(spec, "templates")}
    template = known.get(str(node["templateName"]), Json())
    if part(template, "resource").get("action") != "get" or "awaits" not in does(template):
        return
    around = next((one for one in nodes if one["id"] == node.get("boundaryID") and one["name"] != run), None)
    way_out = f"--from {step}" if around is None else f"--only {task_of(around['name'], run)}"
    raise RunError(f"--only {step}: it waits for an object that a step beside it makes: run both, {way_out}")


def only(manifest: Json, status: Json, step: str) -> Json:
    """A workflow of one step, with the inputs that it had in an earlier run. Raises RunError."""
    nodes: list[Json] = list(part(part(status, "status"), "nodes").values())
    run = name_of(status)
    node = _one(nodes, step, run)
    spec: Json = part(manifest, "spec")
    template = str(node["templateName"])
    own = {str(one.get("name")) for one in several(spec, "templates")}
    if template not in own and "workflowTemplateRef" not in spec:
        raise RunError(
            f"--only {step}: in the run {run} it was `{template}`, which this workflow does not have"
        )
    _with_others(step, node, nodes, spec, run)
    arguments = _arguments(node, spec)
    if missing := _not_had(spec, template, arguments):
        named = f"input{'s' * (len(missing) > 1)} {', '.join(missing)}"
        raise RunError(
            f"--only {step}: in the run {run} it did not have the {named}: "
            f"run it with what it needs and what follows it, --from {step}"
        )
    left = ("onExit", "hooks", "arguments", "entrypoint")
    rest = {key: value for key, value in spec.items() if key not in left}
    return {**manifest, "spec": {**rest, "entrypoint": template, "arguments": arguments}}


def _one(nodes: list[Json], step: str, run: str) -> Json:
    """The only node of a run that is meant by the name of a step. Raises RunError."""
    leaves = [node for node in nodes if node["type"] in _STEPS and node.get("templateName")]
    leaves = [node for node in leaves if not part(node, "nodeFlag").get("retried")]  # attempts of one of them
    found = _named(leaves, step, run)
    if not found:
        known = _tasks(nodes, run, _STEPS)
        if step in known:
            why = "its template has no name in the workflow, so it does not run alone"
            raise RunError(f"--only {step}: {why}; --from {step} runs it and what follows")
        raise RunError(f"--only {step}: the run {run} has no step `{step}`{said_near(step, known)}")
    tasks = _tasks(found, run, _STEPS)
    if len(tasks) > 1 and step not in tasks:
        raise RunError(f"--only {step}: several steps call it, name one of them: {', '.join(tasks)}")
    rounds = list(dict.fromkeys(_LABEL.sub(r"(\1)", one["displayName"]) for one in found))
    if len(rounds) > 1 and all(_LABEL.search(one["displayName"]) for one in found):
        raise RunError(f"--only {step}: it has {len(rounds)} rounds, name one of them: {_some(rounds)}")
    ways: dict[str, Json] = {}
    for one in found:
        ways.setdefault(".".join(way(run, one["name"]).path), one)
    if len(ways) > 1 and step not in ways:
        raise RunError(f"--only {step}: it ran {len(ways)} times, name one of them: {_some([*ways])}")
    return ways.get(step, found[0])


def _arguments(node: Json, spec: Json) -> Json:
    """What a step was given, as arguments of a run, beside those that the run itself has."""
    given = several(part(node, "inputs"), "parameters")
    had = {one["name"] for one in given}
    parameters = [
        *({"name": one["name"], "value": one.get("value", "")} for one in given),
        *(one for one in several(part(spec, "arguments"), "parameters") if one["name"] not in had),
    ]
    artifacts = [
        {key: value for key, value in one.items() if key not in ("path", "mode")}
        for one in several(part(node, "inputs"), "artifacts")
    ]
    return {"parameters": parameters, **({"artifacts": artifacts} if artifacts else {})}


def _some(names: Sequence[str]) -> str:
    """The first names in quotes, since they contain brackets, which are special to shells."""
    return ", ".join(f"'{one}'" for one in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def _not_had(spec: Json, template: str, arguments: Json) -> list[str]:
    """The inputs of a template that have no value of their own and none among the earlier arguments."""
    named = {str(one.get("name")): one for one in several(spec, "templates")}
    inputs = part(named.get(template), "inputs")
    had = {(kind, one["name"]) for kind, listed in arguments.items() for one in listed}
    return [
        f"`{one['name']}`"
        for kind in ("parameters", "artifacts")
        for one in several(inputs, kind)
        if (kind, one["name"]) not in had and _BY_ITSELF.isdisjoint(one) and not one.get("optional")
    ]
