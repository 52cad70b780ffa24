"""Artifacts and global outputs of one run that overwrite each other: they have one key, or one global name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import GRAPH_BODIES
from flowdsl.compiler.limits import DEEPEST
from flowdsl.compiler.lint.pods.stores import KEYS
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import compact, entries, entries_at, inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.depends import asks
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.template import TAG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class SameKey(Finding):
    """A key to which several artifacts of a run are written: only the last one is kept."""

    code = "FD812"
    severity = "warning"
    title = "{who} are written to `{key}`, so only the last one is kept"
    label = "the same each time"
    help = "{way}"
    who: str
    key: str
    way: str = "put a part into the key that differs each time, such as `{{pod.name}}`"


class SameGlobal(Finding):
    """A global output that every item of a loop writes: only the one that ends last is kept."""

    code = "FD822"
    severity = "warning"
    title = "all items of `{call}` write the global output `{name}`, and the last one to end wins"
    label = "the same for all items"
    help = "read the results of the items where the loop is called, which has them as a list"
    call: str
    name: str


_EACH = "give each artifact a key of its own"


class _Place(NamedTuple):
    """An artifact with a key: its location in the stores, its name, and the key as written, with its path."""

    where: str
    name: str
    key: str
    path: Path
    template: Template


def overwritten(view: View) -> Iterator[Problem]:
    """Artifacts of a run have different keys: the items of a loop, the calls of a graph, the outputs of a template."""
    told: set[Path] = set()
    for call in view.looping:
        if _repeats(call) and call.callee is not None:
            for template in _leaves(call.callee):
                yield from _of_items(view, call, template, told)
    known: _Known = {}
    for template in view.templates:
        found = _in_graph(view, template, known) if template.body in GRAPH_BODIES else _in_template(template)
        for path, finding in found:
            if path not in told:
                told.add(path)
                yield Problem(path, finding)


def _of_items(view: View, call: Call, template: Template, told: set[Path]) -> Iterator[Problem]:
    """The findings about the outputs of a template that runs for all items of a loop."""
    for field in ("parameters", "artifacts"):
        for place, output in entries_at(template.data, template.path, "outputs", field):
            name = string(output, "globalName")
            path = _shown(view, template, (*place, "globalName"), call)
            if name and _is_one(name) and path not in told:
                told.add(path)
                yield Problem(path, SameGlobal(call.title, name))
    for one in _places(template, "outputs", {}):
        path = _shown(view, template, one.path, call)
        if path not in told:
            told.add(path)
            yield Problem(path, SameKey(f"artifacts `{one.name}` of all items of `{call.title}`", one.key))


def _shown(view: View, template: Template, path: Path, call: Call) -> Path:
    """A path in a template; that of a call if the template is in another document."""
    return path if view.at.get(template.path) is template else call.path


def _in_template(template: Template) -> Iterator[tuple[Path, Finding]]:
    """The findings about outputs of a template with the location of an output before them."""
    own = {name: f"{{{{inputs.parameters.{name}}}}}" for name in template.parameters}
    first: dict[str, _Place] = {}
    for one in _places(template, "outputs", own):
        if (other := first.setdefault(one.where, one)) is not one:
            yield one.path, SameKey(f"artifacts `{other.name}` and `{one.name}`", one.key, _EACH)


def _in_graph(view: View, graph: Template, known: _Known) -> Iterator[tuple[Path, Finding]]:
    """The findings about calls that write where a call before them does, and do not read what this has written."""
    own = {name: f"{{{{inputs.parameters.{name}}}}}" for name in graph.parameters}
    first: dict[str, tuple[Call, str]] = {}
    for call in _certain(graph):
        given = _given(call, own)
        assert call.callee is not None
        for one in _all_places(call.callee, "outputs", given, known).values():
            other, name = first.setdefault(one.where, (call, one.name))
            if (
                other is not call
                and not _takes(call, other)
                and one.where not in _all_places(call.callee, "inputs", given, known)
            ):
                second = f"`{one.name}` of " if one.name != name else ""
                who = f"artifacts `{name}` of `{other.title}` and {second}`{call.title}`"
                yield _shown(view, one.template, one.path, call), SameKey(who, one.key)


_Known = dict[tuple[int, str, str], dict[str, _Place]]
"""The places of a template by their locations, by its identity, the side, and the values of its inputs."""

_MOST = 2_000
"""For how many inputs templates are looked at: graphs that call each other twice have twice as many at each level."""


def _all_places(
    template: Template, side: str, given: dict[str, str], known: _Known, depth: int = 1
) -> dict[str, _Place]:
    """The fixed places of a template and of those that it certainly calls, by their locations.

    Templates that are too deep to run are left out.
    """
    if len(known) >= _MOST:
        given = {}
    key = id(template), side, compact(given)
    if key not in known:
        known[key] = {}  # for a template that calls itself
        found = {one.where: one for one in _places(template, side, given)}
        for call in _certain(template) if depth < DEEPEST else ():
            assert call.callee is not None
            found |= _all_places(call.callee, side, _given(call, given), known, depth + 1)
        known[key] = found
    return known[key]


def _certain(graph: Template) -> list[Call]:
    """The calls of a graph that run once each, unless something fails."""
    dag = graph.dag
    chosen = dag.after(i for i, call in enumerate(graph.calls) if asks(string(call.data, "depends")))
    return [
        call
        for index, call in enumerate(graph.calls)
        if call.callee is not None
        and not (call.loop or call.data.get("when"))
        and (graph.body == "steps" or (dag.is_sound and index not in chosen))
    ]


def _takes(call: Call, other: Call) -> bool:
    """Whether a call takes an artifact of another one, which it may write again."""
    word = f".{other.name}.outputs."
    return any(word in string(each, "from") for each in entries(call.data, "arguments", "artifacts"))


def _places(template: Template, side: str, given: dict[str, str]) -> Iterator[_Place]:
    """The artifacts of a template with the same key in the whole run, for values of its inputs."""
    for place, artifact in entries_at(template.data, template.path, side, "artifacts"):
        field = next((each for each in KEYS if artifact.get(each) is not None), "")
        key = string(artifact, field, KEYS[field]) if field else ""
        # Folders with different files may share a key.
        if not key or (side == "outputs" and inside(artifact, "archive").get("none") is not None):
            continue
        if (filled := _filled(key, given)) is not None:
            location: Object = {**artifact[field], KEYS[field]: filled}
            where, path = f"{field}: {compact(location)}", (*place, field, KEYS[field])
            yield _Place(where, string(artifact, "name"), key, path, template)


def _given(call: Call, around: dict[str, str]) -> dict[str, str]:
    """The values of the inputs of what is called, as far as they are fixed; `around` are those of the caller."""
    assert call.callee is not None
    inputs = {name: each.get("value") or each.get("default") for name, each in call.callee.parameters.items()}
    texts = {name: value for name, value in inputs.items() if isinstance(value, str) and "{{" not in value}
    for each in entries(call.data, "arguments", "parameters"):
        name, value = string(each, "name"), each.get("value")
        texts.pop(name, None)
        if isinstance(value, str) and (filled := _filled(value, around)) is not None:
            texts[name] = filled
    return {name: texts[name] for name in sorted(texts.keys() & inputs.keys())}


def _filled(text: str, given: dict[str, str]) -> str | None:
    """A text with the values of inputs in their places; None if it may differ within a run."""
    values: dict[str, str] = {}
    for tag in TAG.finditer(text):
        name = tag[1].strip()
        value = given.get(name.removeprefix("inputs.parameters.")) if name.startswith("inputs.") else None
        if value is None and not name.startswith("workflow."):
            return None
        values[tag[0]] = tag[0] if value is None else value
    return TAG.sub(lambda tag: values[tag[0]], text) if "{{" in text else text


def _repeats(call: Call) -> bool:
    """Whether a call is a loop over several items, without a condition that selects one."""
    items = call.data.get("withItems")
    sequence = inside(call.data, "withSequence")
    one = (items is not None and len(items) < 2) or str(sequence.get("count")) in ("0", "1")
    return bool(call.loop) and not one and not call.data.get("when")


def _leaves(template: Template) -> list[Template]:
    """A template and those that it calls without a condition, at any depth; each once."""
    found = {id(template): template}
    left = [template]
    for each in left:  # grows during the iteration
        for call in each.calls:
            if call.callee is not None and id(call.callee) not in found and not call.data.get("when"):
                found[id(call.callee)] = call.callee
                left.append(call.callee)
    return left


def _is_one(name: str) -> bool:
    """Whether a name is the same in the whole run."""
    return all(part.lstrip().startswith("workflow.") for part in name.split("{{")[1:])
