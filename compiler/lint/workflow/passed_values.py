"""Values that reach a template through tags, as far as they are known: loops, labels of all pods."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.bodies import BadImage
from flowdsl.compiler.limits import DEEPEST
from flowdsl.compiler.lint.manifest.globals import sample
from flowdsl.compiler.lint.manifest.template import Template
from flowdsl.compiler.lint.workflow.expression_values import outcome, variable_of
from flowdsl.compiler.lint.workflow.labels import VALUE_FORM, BadLabel
from flowdsl.compiler.lint.workflow.loops import (
    BOUNDS,
    LoopFields,
    is_whole,
    no_list,
    read_list,
    written_items,
)
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.schema.findings import short
from flowdsl.compiler.tree import compact, entries, inside, is_mapping, string, value_at
from flowdsl.grammar.names import is_label_value
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import TAG, only_tag, tags, variables

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path

    _Followed = tuple[int, str]
    """A text that is followed, with the identity of the template that contains it."""
    _Items = list[tuple[Path, object]]
    """The known items of a list, each with the path where it is written: that of the list, if this is a text."""
    _Written = tuple[Template | None, str, Path]
    """A text with the template that contains it, and its path."""


def arriving_labels(view: View) -> Iterator[Problem]:
    """The known values that labels of all pods, and of their nodes, get from the inputs of templates are valid."""
    told: set[tuple[Path, str]] = set()
    for template, place, text in _labelled(view):
        if "{{" not in str(text) or not is_label_value(_plain(text)):
            continue
        what = "the value of a node's label" if place[-2] == "nodeSelector" else "the value of a label"
        for path, value in composed(view, template, text, place):
            if value and not is_label_value(value) and (path, value) not in told:
                told.add((path, value))
                yield Problem(path, BadLabel(value, what, VALUE_FORM))


def _labelled(view: View) -> Iterator[tuple[Template, Path, str]]:
    """The values of the labels of all pods and their nodes, with each template that replaces their tags."""
    for fields, own in ((("podMetadata", "labels"), ("metadata", "labels")), (("nodeSelector",), ())):
        for key, text in inside(view.spec, *fields).items():
            for each in view.templates:
                taken = key in inside(each.data, *own) if own else "nodeSelector" in each.data
                if each.is_pod and not taken:
                    yield each, (*view.path, *fields, key), text


def arriving_made_labels(view: View) -> Iterator[Problem]:
    """The known values that labels of the run get from expressions with one text or parameter are valid."""
    around = Template({}, view.path)
    for name, each in inside(view.spec, "workflowMetadata", "labelsFrom").items():
        expression = string(each or {}, "expression")
        own = (*view.path, "workflowMetadata", "labelsFrom", name, "expression")
        for path, value in arriving(view, around, f"{{{{={expression}}}}}", own):
            if value and "{{" not in value and not is_label_value(value):
                yield Problem(path, BadLabel(value, "the value of a label", VALUE_FORM))


def arriving_loops(view: View) -> Iterator[Problem]:
    """The known values that loops get from tags are lists and integers."""
    told: set[tuple[Path, str]] = set()
    # By graph and text, since many loops of a graph may have one text; a path is empty if it is that of the loop.
    found: dict[_Followed, list[tuple[Path, str]]] = {}
    for call in view.looping:
        texts: list[tuple[tuple[str, ...], object]] = [(("withParam",), call.data.get("withParam"))]
        texts += [(("withSequence", end), inside(call.data, "withSequence").get(end)) for end in BOUNDS]
        for fields, text in texts:
            if not isinstance(text, str) or "{{" not in text:
                continue
            key = id(call.owner), text
            if key not in found:
                found[key] = [*composed(view, call.owner, text, ())]
            for place, value in found[key]:
                path = place or (*call.path, *fields)
                if value and (path, value) not in told:
                    told.add((path, value))
                    yield from _of_loop(view, fields[-1], path, value)


def _of_loop(view: View, field: str, path: Path, value: str) -> Iterator[Problem]:
    """The finding about a known value of a field of a loop."""
    if field != "withParam":
        if not is_whole(value):
            found = f"`{field}` of a `withSequence` becomes `{value}`"
            yield Problem(path, LoopFields(found, "write a whole number"))
    elif (part := no_list(value)) is not None:
        there: object = value_at(view.document, path)
        written = there == value
        entry: object = value_at(view.document, path[:-1])
        name: object = entry.get("name") if is_mapping(entry) and written else None
        shown = there if isinstance(there, str) and "{{" in there else value
        found = (
            f"`{name}`, and its value"
            if name
            else "this value, which"
            if written
            else f"`{short(shown)}`, which"
        )
        found = f"a loop goes over {found} is not a JSON list"
        part = part if written else None
        yield Problem(path, LoopFields(found, "write a list in JSON, such as `[1, 2]`"), part=part)


def empty_images(view: View) -> Iterator[Problem]:
    """The known values that images of containers get from tags are not empty."""
    told: set[Path] = set()
    for template in view.all:
        for place, container in template.containers:
            text = string(container, "image")
            for path, value in (
                composed(view, template, text, (*template.path, *place)) if "{{" in text else ()
            ):
                if not value and path not in told:
                    told.add(path)
                    yield Problem(path, BadImage(value, "the API server refuses a pod without an image"))


def _plain(text: str) -> str:
    """A text with a word in place of each tag: other mistakes in it are reported elsewhere."""
    return TAG.sub("tag", text)


def arriving(view: View, template: Template, text: str, path: Path) -> Iterator[tuple[Path, str]]:
    """The known values of a text that is one tag, or has none, each with the path where it is written.

    An input has the values of its template's calls, which may be tags again. A variable whose values all have
    the same form has a sample of them; an expression has its results for one parameter, or for none.
    """
    yield from _arriving(view, template, text, path, _Walk({(id(template), text)}))


class _Walk:
    """What is followed to find the values of one text: each text once, and the items of each list.

    `depth`: of how many loops the items are looked for, each for those of the one before it.
    """

    def __init__(
        self, seen: Iterable[_Followed] = (), items: dict[_Followed, _Items] | None = None, depth: int = 0
    ) -> None:
        self.seen = set(seen)
        self.items = {} if items is None else items
        self.depth = depth


def _arriving(
    view: View, template: Template, text: str, path: Path, walk: _Walk
) -> Iterator[tuple[Path, str]]:
    left = [(template, text, path)]
    for template, text, path in left:  # grows during the loop
        tag = only_tag(text)
        if tag is None:
            if "{{" not in text:
                yield path, text
            continue
        name = tag[1].strip()
        if name.startswith("="):
            yield from _computed(view, template, name[1:], path, walk)
            continue
        if (alike := sample(tuple(name.split(".")))) is not None:
            yield path, alike
            continue
        for giver, value, place in _given(view, template, name, walk):
            if "{{" not in value:
                yield place, value
            elif giver is not None and value.count("{{") == 1 and (id(giver), value) not in walk.seen:
                walk.seen.add((id(giver), value))
                left.append((giver, value, place))


def _computed(
    view: View, template: Template, expression: str, path: Path, walk: _Walk
) -> Iterator[tuple[Path, str]]:
    """The results of an expression for the known values of its only parameter, if it depends on any."""
    variable = variable_of(expression)
    if variable is None:
        return
    values = [(path, "")]
    if variable:
        found = _arriving(view, template, f"{{{{{variable}}}}}", path, walk)
        values = [each for each in found if each[1]]  # one may be an empty placeholder
    for place, value in values:
        if (text := outcome(expression, variable, value)) is not None:
            yield (place if text == value else path), text


def handed(view: View, call: Call, value: str, place: Path) -> Iterator[tuple[Path, str]]:
    """The known values of a call's argument that is one tag, each with the path where it is written."""
    when = string(call.data, "when")
    if when and not named(value).isdisjoint(named(when)):
        return  # not every value gets through
    given = (call.owner, value, place)
    items = _of_items(view, call.data, call.path, given, _Walk()) if "{{item" in value else (given,)
    for giver, text, path in items:
        if giver is None:
            yield path, text
        else:
            yield from arriving(view, giver, text, path)


def reaching(
    view: View, template: Template, texts: Iterable[str], seen: set[tuple[int, str]]
) -> Iterator[tuple[Path, str]]:
    """The texts that get into other texts of a template by their tags, each with the path where it is written.

    `seen`: the templates and variables whose texts were found before, and are left out.
    """
    left = [(template, text) for text in texts]
    for template, text in left:  # grows during the loop
        for tag in tags(text) if "{{" in text else ():
            # A function may change the braces of a value.
            named = variables(tag.body) if tag.kind == "expression" and "(" not in tag.body else ()
            for name in [one.dotted for one in named] or [tag.body.strip()]:
                if (id(template), name) in seen:
                    continue
                seen.add((id(template), name))
                for giver, value, place in _given(view, template, name, _Walk()):
                    yield place, value
                    if giver is not None:
                        left.append((giver, value))


def composed(view: View, template: Template, text: str, path: Path) -> Iterator[tuple[Path, str]]:
    """The known values of a text that may have tags between other words, each with the path that decides it.

    The values of all tags must be known, and not be empty placeholders. Where several tags have several
    values, those of one call are combined.
    """
    if only_tag(text) or "{{" not in text:
        yield from arriving(view, template, text, path)
        return
    given = {tag[0]: list(arriving(view, template, tag[0], path)) for tag in TAG.finditer(text)}
    longest = max(given.values(), key=len, default=None)
    if longest is None:  # unclosed braces
        return
    if any(
        len(some) not in (1, len(longest)) or not all(each for _, each in some) for some in given.values()
    ):
        return
    if len(longest) == 1 and len({some[0][0] for some in given.values()}) > 1:
        longest = [(path, "")]  # any of them may be the wrong one
    for index, (place, _) in enumerate(longest):
        values = {tag: some[index if index < len(some) else 0][1] for tag, some in given.items()}
        yield place, _with(text, values)


def never_filled(view: View, template: Template, text: str) -> bool:
    """Whether a tag in a text of a template has no value when Argo validates the workflow.

    Argo then knows the parameters of the workflow, and the inputs of its entrypoint; it replaces everything
    else with placeholders. It validates only the first inline template. Source: Argo Workflows,
    workflow/validate/validate.go.
    """
    started = not view.runs or template.around is not None or view.begins_or_ends_with(template)
    for name in (name for tag in tags(text) for name in tag.names):
        word, _, last = name.rpartition(".")
        own = started and word == "inputs.parameters" and last in template.parameters
        given = word == "workflow.parameters" and (last in view.arguments or not view.runs or view.external)
        if not (own or given):
            return True
    return False


def _with(text: str, values: dict[str, str]) -> str:
    """A text with its tags replaced by values."""
    return TAG.sub(lambda tag: values[tag[0]], text)


def _given(view: View, template: Template, variable: str, walk: _Walk) -> Iterator[_Written]:
    """The texts that a template's variable may stand for, each with the template that contains it, and its path."""
    word, _, name = variable.rpartition(".")
    if word == "workflow.parameters" and view.runs:
        yield from _values(None, view.spec, (*view.path, "arguments"), name)
    if word != "inputs.parameters" or name not in template.parameters:
        return
    calls = view.callers.get(id(template), ())
    givers: list[tuple[Template | None, Object, Path]] = [
        (call.owner, call.data, (*call.path, "arguments")) for call in calls
    ]
    if view.begins_or_ends_with(template):
        givers.append((None, view.spec, (*view.path, "arguments")))
    for giver, owner, place in givers:
        for given in _values(giver, owner, place, name):
            when = string(owner, "when")
            if when and not named(given[1]).isdisjoint(named(when)):
                continue  # not every value gets through
            if "{{item" in given[1]:
                yield from _of_items(view, owner, place[:-1], given, walk)
            else:
                yield given
    if not all(_names(owner, name) for _, owner, _ in givers) or not givers:
        yield from _values(
            None, {"arguments": inside(template.data, "inputs")}, (*template.path, "inputs"), name
        )


@lru_cache(maxsize=1024)
def named(text: str) -> frozenset[str]:
    """The variables in the tags of a text."""
    return frozenset(name for tag in tags(text) for name in tag.names) if "{{" in text else frozenset()


def _of_items(view: View, call: Object, path: Path, given: _Written, walk: _Walk) -> Iterator[_Written]:
    """The values of a loop's argument that has items, or keys of them, in it; itself if they are unknown.

    An argument that is only an item is written where the item is.
    """
    giver, text, own = given
    read = [tag[1] for tag in _ITEM.finditer(text)]
    items = [] if "{{item" in str(call.get("when")) else _items(view, call, path, giver, walk)
    if not items or len(read) < text.count("{{"):
        yield given
        return
    alone = only_tag(text) is not None
    for place, item in items:
        known = {key: value for key in read if (value := _part(item, key)) is not None}
        if len(known) == len(set(read)):
            inner = (read[0],) if read[0] and place[-2:-1] == ("withItems",) else ()
            yield None, _ITEM.sub(partial(_in_place, known), text), (*place, *inner) if alone else own


def _part(item: object, key: str | None) -> str | None:
    """An item, or one key of it, as text; None if there is no such key, or if the text is changed on its way."""
    value: object = item.get(key) if key and is_mapping(item) else None if key else item
    text = value if isinstance(value, str) else None if value is None else compact(value)
    # Quotes and backslashes in a text are escaped again, which is reported elsewhere.
    return None if text is None or (isinstance(value, str) and _ESCAPED.search(text)) else text


def _in_place(known: dict[str | None, str], tag: re.Match[str]) -> str:
    """The value of a tag with an item."""
    return known[tag[1]]


def items_of(view: View, call: Call) -> _Items:
    """The known items of a loop, each with the path where it is written: that of their list, if this is a text."""
    return _items(view, call.data, call.path, call.owner, _Walk())


def _items(view: View, call: Object, path: Path, giver: Template | None, walk: _Walk) -> _Items:
    where, items = written_items(call)
    if where == "withItems" and items:
        return [((*path, where, index), item) for index, item in enumerate(items)]
    text = string(call, "withParam")
    if giver is None or "{{" not in text:
        return [((*path, where), item) for item in items]
    key = id(giver), text
    if key in walk.seen or walk.depth >= DEEPEST:  # a template that calls itself, or loops that never run
        return []
    if key not in walk.items:
        walk.items[key] = []
        inner = _Walk({key}, walk.items, walk.depth + 1)
        lists = dict.fromkeys(_arriving(view, giver, text, (*path, "withParam"), inner))
        found = [(place, item) for place, list_ in lists for item in read_list(list_)]
        walk.items[key] = found if len(found) <= _MOST else []
    return walk.items[key]


_MOST = 2_000
"""How many items are known of a list that tags name: those of loops inside of each other multiply."""
_ITEM = regex(r"\{\{\s*item(?:\.([^{}\s]+))?\s*\}\}")
_ESCAPED = regex(r"[\"\\\n{]")


def _values(giver: Template | None, owner: Object, path: Path, name: str) -> Iterator[_Written]:
    """The value of a parameter among the arguments of an owner, which are at a path."""
    for index, each in enumerate(entries(owner, "arguments", "parameters")):
        field = "value" if each.get("value") is not None else "default"
        value: object = each.get(field)
        if each.get("name") == name and isinstance(value, str):
            yield giver, value, (*path, "parameters", index, field)


def _names(owner: Object, name: str) -> bool:
    return any(each.get("name") == name for each in entries(owner, "arguments", "parameters"))


def with_values(view: View, text: str) -> str:
    """A text with the known values of the run's parameters."""
    if not view.runs:
        return text

    def value(tag: re.Match[str]) -> str:
        parameter = view.arguments.get(tag[1].strip().removeprefix("workflow.parameters."), {})
        given: object = parameter.get("value")
        known = isinstance(given, str) and _HARMLESS.fullmatch(given) and "workflow.parameters." in tag[1]
        return str(given) if known else tag[0]

    return TAG.sub(value, text)


_HARMLESS = regex(r"[\w.+-]+")
"""Values that are the same with and without quotes."""


def as_called(view: View, template: Template, data: Object) -> Object:
    """A template without the values of inputs that all calls override. Source: Argo Workflows, ProcessArgs."""
    calls = view.callers.get(id(template))
    listed = entries(data, "inputs", "parameters")
    if not calls or view.begins_or_ends_with(template):
        return data
    given = [
        {
            each.get("name")
            for each in entries(call.data, "arguments", "parameters")
            if each.get("value") is not None
        }
        for call in calls
    ]
    kept = [
        {**each, "value": None} if all(each.get("name") in names for names in given) else each
        for each in listed
    ]
    return {**data, "inputs": {**data["inputs"], "parameters": kept}} if listed else data
