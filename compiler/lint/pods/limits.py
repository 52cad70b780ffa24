"""Size limits of Argo, Kubernetes and Linux. Limits on the number of entries are part of the schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.limits import MOST_VARIABLE
from flowdsl.compiler.lint.manifest.dag import inner_first
from flowdsl.compiler.lint.manifest.template import Template
from flowdsl.compiler.lint.pods.untyped import containers_in
from flowdsl.compiler.ports import SCRIPT
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import (
    byte_count,
    compact,
    entries,
    entries_at,
    inside,
    is_list,
    is_mapping,
    string,
)
from flowdsl.diagnostic import Finding
from flowdsl.grammar.template import TAG

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path

KIB = 1024
MOST_OBJECT = 1024 * KIB
"""The size of a workflow in bytes above which Argo fails it. Source: Argo Workflows, workflow/packer/packer.go."""

BIG_OBJECT = 512 * KIB
"""The size of a manifest in bytes that leaves little room for the status of a run in the same object."""

NODE = 80
"""Bytes of the status of one node: about 770 in JSON, a tenth of it when Argo has compressed them for the object.

Measured with 1000 to 10 000 pods with one parameter, one result and logs, gzipped and in base64.
"""

_OTHER_CODE = "keep the code in the image, in a repository or on a volume"


class _Big(Finding):
    label = "{size} KiB"
    help = "{way}"
    kind: str
    size: int
    most: int
    by_code: bool = False

    def words(self) -> dict[str, str]:
        """The fields, and the remedy for the largest part of the object."""
        way = "let a step make the items or values and pass them on, or run the work as several workflows"
        return {**super().words(), "way": _OTHER_CODE if self.by_code else way}


class ObjectTooBig(_Big):
    """A manifest that no cluster can run."""

    code = "FD595"
    title = "the {kind} is {size} KiB; Argo takes less than {most}"


class ObjectBig(_Big):
    """A manifest that leaves little room for the status of its run."""

    code = "FD596"
    severity = "warning"
    title = "the {kind} is {size} KiB, and its status has to fit into the same {most} KiB"


class StatusBig(Finding):
    """A workflow with so many nodes that their status may not fit into its object."""

    code = "FD774"
    severity = "warning"
    title = (
        "the run has about {nodes} nodes: with their status, the {kind} grows to {size} KiB, of at most "
        "{most}"
    )
    label = "{nodes} nodes"
    help = (
        "give each item more to do, split the work into several workflows, or let Argo keep the status in "
        "a database"
    )
    kind: str
    nodes: int
    size: int
    most: int


class ValueTooBig(Finding):
    """A parameter that is too large for any container."""

    code = "FD597"
    title = "the value of `{name}` is {size} KiB; a container can be given {most}"
    label = "{size} KiB"
    help = (
        "pass it on as a file: let a step return it as a Path; in YAML use an artifact, such as one with "
        "`raw`"
    )
    name: str
    size: int
    most: int


class TextTooBig(Finding):
    """A variable or argument that is too large for any container."""

    code = "FD362"
    title = "{what} is {size} KiB; a container can be given {most}"
    label = "{size} KiB"
    help = "keep it in a file: in the image, in a repository, in a ConfigMap or on a volume"
    what: str
    size: int
    most: int


class LongArgument(Finding):
    """An argument so long that its program gets the path of a file instead."""

    code = "FD867"
    severity = "warning"
    title = (
        "{what} is {size} KiB; above {most}, Argo 4 puts an argument into a file, and passes `@` and its path"
    )
    label = "{size} KiB"
    help = "pass it as a file, unless the program reads the file after `@`"
    what: str
    size: int
    most: int


def for_version(problem: Problem, version: str) -> Problem:
    """A problem as a version of Argo has it: before 4.0, no argument is kept in a file."""
    finding = problem.finding
    if isinstance(finding, LongArgument) and version < "4":
        return problem._replace(finding=TextTooBig(finding.what, finding.size, finding.most))
    return problem


class SourceBig(Finding):
    """A script that is too long for an environment variable, so each pod needs a ConfigMap."""

    code = "FD598"
    severity = "warning"
    title = "the source of template `{name}` is {size} KiB; above {most}, every pod needs its own ConfigMap"
    label = "{size} KiB"
    help = _OTHER_CODE
    name: str
    size: int
    most: int


def object_size(view: View) -> Iterator[Problem]:
    """The whole object is small enough for Argo, with room for its status."""
    size = _size(view)
    if size >= BIG_OBJECT:
        made = ObjectTooBig if size >= MOST_OBJECT else ObjectBig
        path = _heaviest(view, size)
        yield Problem(path, made(view.kind, size // KIB, MOST_OBJECT // KIB, path[-1:] == ("source",)))
    elif size + NODE * (nodes := _nodes(view)) >= MOST_OBJECT:
        whole = (size + NODE * nodes) // KIB
        yield Problem(_longest(view), StatusBig(view.kind, nodes, whole, MOST_OBJECT // KIB))


def _nodes(view: View) -> int:
    """The number of nodes of a run, as far as known: loops over values of the run count once."""
    first = view.first
    if first is None:
        return 1
    counted: dict[int, int] = {}
    for template in inner_first([first], Template.graphs):
        # A recursive template counts once inside itself, and so does one without calls.
        found = 1 + len(template.calls)
        for call in template.calls:
            nodes = counted.get(id(call.callee), 1)
            if nodes > 1 or call.loop:
                found += _items(call) * nodes + bool(call.loop) - 1
        counted[id(template)] = found
    return counted.get(id(first), 1)


def _items(call: Call) -> int:
    """How often a call runs, as far as known."""
    items = call.data.get("withItems")
    if items:
        return len(items)
    count = str(inside(call.data, "withSequence").get("count"))
    return int(count) if count.isdecimal() else 1


def _longest(view: View) -> Path:
    """The loop with the most items; the object itself where there is none."""
    call = max(view.calls, key=_items, default=None)
    return (*call.path, call.loop) if call is not None and call.loop and _items(call) > 1 else ()


def _heaviest(view: View, size: int) -> Path:
    """The loop or script that makes up most of an object of that size; the object itself if there is none."""
    for call in view.calls:
        if call.data.get("withItems") and 2 * len(view.survey(call).text) > size:
            return (*call.path, "withItems")
    for template in view.templates:
        if 2 * len(template.source) > size:
            return (*template.path, "script", "source")
    return ()


_ESCAPED = b'"\\\n\t\r'


def _size(view: View) -> int:
    """The size of the document as compact JSON, in bytes; escapes in long loops are not counted."""
    listed = view.listed
    size = max(len(listed) - 1, 0)  # the commas between them
    emptied: dict[int, Object] = {}
    for call in view.calls:
        items = call.data.get("withItems")
        if items and len(items) > 100 and (counted := view.survey(call).size) is not None:
            size += counted
            emptied[id(call.data)] = {**call.data, "withItems": []}
    for template in listed:
        if emptied:
            size += byte_count(compact(_exchanged(template.data, emptied)))
        else:
            source = template.source.encode("utf-8", "surrogatepass")
            size += byte_count(template.text) + len(template.name)
            size += 2 * len(source) - len(source.translate(None, _ESCAPED))
    without: dict[int, Object] = {id(view.spec): {**view.spec, "templates": []}} if listed else {}
    return size + byte_count(compact(_exchanged(view.document, without)))


def _exchanged(node: Any, others: dict[int, Object]) -> Any:
    """A copy of a document with some of its mappings replaced."""
    if is_mapping(node):
        return others.get(id(node)) or {key: _exchanged(value, others) for key, value in node.items()}
    if is_list(node):
        return [_exchanged(each, others) for each in node]
    return node


def values(view: View) -> Iterator[Problem]:
    """Literal values fit into a container's variable or argument, scripts into an environment."""
    path = (*view.path, "arguments")
    users = [("workflow", view.templates), ("inputs", [] if view.first is None else [view.first])]
    yield from _unfit(inside(view.spec, "arguments"), path, users)
    whole = _size(view) if any(_excess(template.source) for template in view.templates) else 0
    for template in view.templates:
        if (size := _excess(template.source)) and not 2 * size > whole >= BIG_OBJECT:  # reported as such
            big = SourceBig(template.title, size // KIB, MOST_VARIABLE // KIB)
            yield Problem((*template.path, "script", "source"), big)
        yield from _unfit(
            inside(template.data, "inputs"), (*template.path, "inputs"), [("inputs", [template])]
        )
    for call in view.calls if 4 * max(map(len, view.values), default=0) > MOST_VARIABLE else ():
        if call.callee is not None:
            yield from _unfit(
                inside(call.data, "arguments"), (*call.path, "arguments"), [("inputs", [call.callee])]
            )


def texts(view: View) -> Iterator[Problem]:
    """Literal texts for containers fit into a variable or argument, also in the manifest of a resource."""
    for template in view.templates:
        if not template.is_leaf or 4 * len(template.text) <= MOST_VARIABLE:
            continue
        for path, container in template.containers:
            for place, finding in _given(container, in_file=_in_file(path)):
                yield Problem((*template.path, *path, *place), finding)
        manifest = string(template.data, "resource", "manifest")
        if manifest and _excess(manifest):
            for container in containers_in(manifest):
                for _, finding in _given(container):
                    yield Problem((*template.path, "resource", "manifest"), finding)


def _given(container: Object, *, in_file: bool = False) -> Iterator[tuple[Path, Finding]]:
    """Variables and arguments of a container that are too long: where, and what is wrong.

    `in_file`: its arguments may be passed in a file.
    """
    for path, variable in entries_at(container, (), "env"):
        if size := _alone(name := str(variable.get("name")), variable.get("value")):
            what = "the script, a variable of its pods," if name == SCRIPT else f"the variable `{name}`"
            yield (*path, "value"), TextTooBig(what, size // KIB, MOST_VARIABLE // KIB)
    for field in ("command", "args"):
        made = LongArgument if in_file and field == "args" else TextTooBig
        listed: list[object] = container[field] if is_list(container.get(field)) else []
        for index, text in enumerate(listed):
            if size := _alone("", text):
                yield (field, index), made("an argument", size // KIB, MOST_VARIABLE // KIB)


def _in_file(container: Path) -> bool:
    """Whether Argo passes arguments of a template's container in a file if they are too long.

    Source: build in workflow/controller/workflowpod.go, runEmissary in cmd/argoexec/commands/emissary.go of Argo 4.1.
    """
    return "initContainers" not in container


def _alone(name: str, text: object) -> int:
    """The bytes of a text, with its name, that is too long even without its tags, else 0."""
    if not isinstance(text, str) or not _excess(text):
        return 0
    return _excess(f"{name}=" + TAG.sub("", text).replace("$$", "$"))


def _unfit(lists: Object, path: Path, users: Sequence[tuple[str, Sequence[Template]]]) -> Iterator[Problem]:
    """The values and defaults of parameters that are too long for how containers get them.

    `users`: the first word of the tag for the parameters in templates, and those templates.
    """
    for here, parameter in entries_at(lists, path, "parameters"):
        for field in ("value", "default"):
            if not (size := _excess(parameter.get(field))):
                continue
            name, seen = parameter.get("name") or "", set[tuple[int, str, str]]()
            ways = {
                way for root, templates in users for one in templates for way in _ways(one, root, name, seen)
            }
            place, most = (*here, field), MOST_VARIABLE // KIB
            if False in ways:
                yield Problem(place, ValueTooBig(name, size // KIB, most))
            elif ways:
                yield Problem(place, LongArgument(f"the value of `{name}`", size // KIB, most))


def _ways(template: Template, root: str, name: str, seen: set[tuple[int, str, str]]) -> Iterator[bool]:
    """How containers get a parameter, in a template and what it calls: for each whether it may be in a file.

    Raw artifacts, scripts and manifests are passed in files, of any size.
    """
    if (id(template), root, name) in seen:
        return
    seen.add((id(template), root, name))
    last = re.escape(name)
    asked = re.compile(rf"\b{root}\.parameters(?:\.{last}|\[\\?['\"]{last}\\?['\"]\])(?![\w-])").search
    for path, container in template.containers:
        if asked(compact([container.get(field) for field in ("command", "env")])):
            yield False
        if asked(compact(container.get("args"))):
            yield _in_file(path)
    for call in (*template.calls, *template.hooks):
        for parameter in entries(call.data, "arguments", "parameters"):
            if call.callee is not None and asked(str(parameter.get("value"))):
                yield from _ways(call.callee, "inputs", parameter.get("name") or "", seen)


def _excess(value: object) -> int:
    """The bytes of a text that is longer than MOST_VARIABLE, else 0."""
    if not isinstance(value, str) or len(value) * 4 <= MOST_VARIABLE:
        return 0
    size = byte_count(value)
    return size if size > MOST_VARIABLE else 0
