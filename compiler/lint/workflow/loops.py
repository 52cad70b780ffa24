"""Loops: given in one way, with a number of items that Argo can determine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.manifest.template import LOOPS
from flowdsl.compiler.problem import Problem, Various
from flowdsl.compiler.tree import from_json, inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import TAG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Object, Path


class LoopFields(Various):
    """A loop that is given in several ways, or whose items cannot be counted."""

    code = "FD524"


class NullItem(Finding):
    """An item that is null: the text `null` is passed instead."""

    code = "FD525"
    severity = "warning"
    title = "an item of `withItems` is null"
    label = "`{{{{item}}}}` becomes the text `null`"
    help = 'write `"null"` if it is meant; an empty text is `""`'


class EmptyItems(Finding):
    """An empty list of items, which Argo does not take as a loop: the task runs once, without an item."""

    code = "FD526"
    severity = "warning"
    title = "`withItems` is empty, so `{name}` runs once, without an item"
    label = "no items"
    help = "remove the task, or use `withParam: '[]'`, which skips it"
    name: str


class BadFormat(Finding):
    """A format of numbers with no place for one, or with more than one: Go writes an error message into each item."""

    code = "FD848"
    severity = "warning"
    title = "`format` of `withSequence` is `{form}`, which does not format one number"
    label = "each item contains an error message of Go, such as `%!d(MISSING)`"
    help = "write one `%d`, as in `host-%02d`"
    form: str


class CountsDown(Finding):
    """A negative number of items, which Argo takes for the end of a sequence that counts down from its start."""

    code = "FD744"
    severity = "warning"
    title = "`count` of `withSequence` is {count}: Argo counts down, and makes more items than that"
    label = "not a number of items"
    help = "write a number from 0, or `start` and `end` to count down"
    count: str


class InlineLoop(Finding):
    """A loop over an inline template, which Argo looks for by its name once the items have run."""

    code = "FD696"
    title = "`{name}` loops over an inline template, which Argo does not find again"
    label = "the run ends in Error after the items have run"
    help = "move it to `templates` under a name, and call that: `template: {name}`"
    name: str


def loops(view: View) -> Iterator[Problem]:
    """A loop is given in one way, and its items can be counted."""
    for call in view.outlines:
        data = call.data
        if data.keys().isdisjoint(LOOPS):
            continue
        given = [field for field in LOOPS if data.get(field) not in (None, [], "")]
        if len(given) > 1:
            found = " and ".join(f"`{field}`" for field in given) + f" are used together in `{call.name}`"
            yield Problem(call.path, LoopFields(found, "keep one of them"))
        if (items := data.get("withItems")) is not None:
            if not items:
                yield Problem((*call.path, "withItems"), EmptyItems(call.name))
            elif type(None) in set(map(type, items)):
                yield Problem((*call.path, "withItems", items.index(None)), NullItem())
        if (sequence := data.get("withSequence")) is not None:
            yield from _sequence(call, sequence)
        if data.get("inline") is not None and call.loop and is_looked_for(call):
            yield Problem((*call.path, "inline"), InlineLoop(call.name), on_key=True)
        text: str = data.get("withParam") or ""
        if _FAILURES.fullmatch(text):
            found = "`workflow.failures` is a text in quotes that contains a list"
            way = "take the quotes off: `{{=fromJSON(workflow.failures)}}`"
            yield Problem((*call.path, "withParam"), LoopFields(found, way))
        if text and "{{" not in text and (part := no_list(text)) is not None:
            found = "the text of `withParam` is not a JSON list"
            way = "write a list in JSON, such as `[1, 2]`, or a tag that gives one"
            yield Problem((*call.path, "withParam"), LoopFields(found, way), part=part)
        elif (part := _around(text)) is not None:
            found = "the text of `withParam` is no JSON list, whatever its tags stand for"
            way = "write the tag alone, or brackets around the whole: `[{{...}}, {{...}}]`"
            yield Problem((*call.path, "withParam"), LoopFields(found, way), part=part)


def _around(text: str) -> Part | None:
    """The text before the first tag or after the last that makes a text an invalid list; None if there is none."""
    tags = list(TAG.finditer(text))
    if not tags:
        return None
    head, tail = text[: tags[0].start()], text[tags[-1].end() :]
    if head.strip() and not head.lstrip().startswith("["):
        return 0, len(head)
    return (len(text) - len(tail), len(text)) if tail.strip() and not tail.rstrip().endswith("]") else None


_FAILURES = regex(r"\{\{=?\s*workflow\.failures\s*\}\}")
"""Source: Argo Workflows, operate in workflow/controller/operator.go, by strconv.Quote."""


def is_looked_for(call: Call) -> bool:
    """Whether anything comes after a loop: in a DAG, a task that depends on it.

    Source: buildLocalScopeFromTask and executeStepGroup in workflow/controller of Argo 4.1.
    """
    return call.is_awaited if call.owner.body == "dag" else not has_no_items(call)


def has_no_items(call: Call) -> bool:
    """Whether a loop literally has no items, so that Argo skips it; an empty `withItems` is no loop."""
    return is_none(*amount(call))


def has_items(call: Call) -> bool:
    """Whether a loop literally has items; one from a start to an end has at least one."""
    if call.loop == "withSequence":
        path, text = amount(call)
        return text == "" or (text.isdecimal() and not is_none(path, text))
    text = string(call.data, "withParam")
    return call.loop == "withItems" or (text.lstrip().startswith("[") and bool(read_list(text)))


def written_items(call: Object) -> tuple[str, list[Any]]:
    """The literal items of a loop in `withItems` or `withParam`, after the name of the field."""
    text = string(call, "withParam")
    if text and "{{" not in text:
        return "withParam", read_list(text)
    return "withItems", call.get("withItems") or []


def amount(call: Call) -> tuple[Path, str]:
    """The text that determines the number of items of a loop, after its path in the call."""
    if text := string(call.data, "withParam"):
        return ("withParam",), text
    return ("withSequence", "count"), str(inside(call.data, "withSequence").get("count", ""))


def is_none(path: Path, text: str) -> bool:
    """Whether a text that determines the number of items of a loop stands for zero."""
    return text.strip() in (("[]", "null") if path == ("withParam",) else ("0",))


BOUNDS = ("start", "count", "end")
"""The fields of a `withSequence` that are numbers."""

_VERB = regex(r"%[-+# 0]*\d*(?:\.\d+)?([^\d.])")


def _format(text: str, start: object) -> Finding | None:
    """What is wrong with a format of one integer for Go's Sprintf; JSON does not allow characters below 32."""
    bare = text.replace("%%", "")
    found = _VERB.findall(bare)
    if len(found) == bare.count("%") == 1 and found[0] in "bdoOxXUvcq":
        if start or found[0] not in "cq":
            return None
        way = "write one `%d`, as in `host-%02d`"
        return LoopFields(
            f"`format` of `withSequence` is `{text}`, and the first numbers are not characters", way
        )
    return BadFormat(text)


def _sequence(call: Call, sequence: Object) -> Iterator[Problem]:
    """A `withSequence` has one end and integers."""
    path = (*call.path, "withSequence")
    ends = [field for field in ("count", "end") if sequence.get(field) is not None]
    if len(ends) != 1:
        found = (
            "`withSequence` has both `count` and `end`"
            if ends
            else "`withSequence` has neither `count` nor `end`"
        )
        yield Problem(path, LoopFields(found, "give exactly one of `count` and `end`"))
    form: str = sequence.get("format") or ""
    if form and "{{" not in form and (wrong := _format(form, sequence.get("start"))) is not None:
        yield Problem((*path, "format"), wrong)
    for field in BOUNDS:
        value = sequence.get(field)
        if isinstance(value, str) and not is_whole(TAG.sub("1", value)):
            finding = LoopFields(f"`{field}` of `withSequence` is `{value}`", "write a whole number")
            yield Problem((*path, field), finding)
        elif field == "count" and str(value).startswith("-") and str(value).strip("-0"):
            yield Problem((*path, field), CountsDown(str(value)))


def is_whole(text: str) -> bool:
    """Whether Go parses the text as an integer."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    return digits.isascii() and digits.isdecimal()


def read_list(text: str) -> list[Any]:
    """The list that a text is in JSON; empty for any other text."""
    if no_list(text) is not None:
        return []
    found: list[Any] | None = from_json(text)
    return found or []


def no_list(text: str) -> Part | None:
    """The part that makes a text an invalid JSON list; None for a list, or for null, which counts as empty."""
    try:
        value: object = from_json(text)
        return None if value is None or isinstance(value, list) else (0, len(text))
    except json.JSONDecodeError as error:
        return error.pos, min(error.pos + 1, len(text))
    except (ValueError, RecursionError):
        return 0, len(text)
