"""What a task is known to print, where a loop needs a list in JSON or a number, and for conditions."""

from __future__ import annotations

import ast
import re
import shlex
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.scripts import POSIX_SHELLS, command_line, is_python, parse
from flowdsl.compiler.lint.workflow.loops import (
    BOUNDS,
    LoopFields,
    has_items,
    has_no_items,
    is_whole,
    no_list,
    written_items,
)
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import compact, inside, is_json, is_mapping, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.command_line import program
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object

_TAG = regex(r"\{\{\s*([\w.-]+)\s*\}\}")
_SPECIAL = regex(r"[$`|&;<>*?(){}\[\]\\\n#~!]")


class NotCollected(Finding):
    """A loop whose results cannot be collected, because a task prints no JSON."""

    code = "FD571"
    title = "`{name}` prints `{text}`, which is not JSON, so the results of the loop cannot be collected"
    label = "Argo reads each result of a loop as JSON"
    help = (
        "print JSON, such as a number or a text in double quotes, or pass the value on as an output parameter"
    )
    name: str
    text: str


def results(view: View) -> Iterator[Problem]:
    """The results of a loop that are used can be collected. Source: processAggregateNodeOutputs of Argo 4.1."""
    for call in view.looping:
        if call.callee is None or has_no_items(call) or "{{item" in string(call.data, "when"):
            continue  # the call that prints it may be skipped
        wrong = next((text for text in _printed(call) if not is_json(text)), None)
        if wrong is not None and _is_used(call):
            yield Problem(call.path, NotCollected(call.name, wrong))


def lists(view: View) -> Iterator[Problem]:
    """The result of a task that a loop iterates over is a JSON list. Source: expandTask and expandStep of Argo 4.1."""
    for call in view.looping:
        producer, output = call.owner.output_in(string(call.data, "withParam")) or (None, "")
        if producer is None or producer.callee is None or output != "result":
            continue
        if producer.loop or call.data.get("when"):
            continue
        for text in _printed(producer):
            if no_list(text) is not None:
                found = f"a loop goes over what `{producer.name}` prints, `{text}`, which is not a JSON list"
                finding = LoopFields(found, "print a list in JSON, such as `[1, 2]`")
                yield Problem((*call.path, "withParam"), finding)


def numbers(view: View) -> Iterator[Problem]:
    """The bounds of a `withSequence` are no list, and no text. Source: expandSequence of Argo 4.1."""
    for call in view.looping:
        sequence = inside(call.data, "withSequence")
        for field in BOUNDS:
            producer, output = call.owner.output_in(str(sequence.get(field) or "")) or (None, "")
            if producer is None or producer.callee is None or output.startswith("artifacts."):
                continue
            found, way = "", "print a whole number"
            if producer.loop:
                found = f"the list of what the items of `{producer.name}` give"
                way = "take the number from a task without a loop"
            elif output == "result" and not producer.data.get("when"):
                text = next((each for each in _printed(producer) if not is_whole(each)), None)
                found = "" if text is None else f"what `{producer.name}` prints, `{text}`"
            if found:
                finding = LoopFields(f"`{field}` of `withSequence` is {found}, and not a number", way)
                yield Problem((*call.path, "withSequence", field), finding)


def _is_used(call: Call) -> bool:
    text = compact(call.owner.data)
    name = re.escape(call.name)
    return (
        re.search(rf"(?:tasks|steps)(?:\.{name}|\[\\?['\"]{name}\\?['\"]\])\.outputs\.result\b", text)
        is not None
    )


def _printed(call: Call) -> Iterator[str]:
    """What a task or the items of a loop print, as far as known."""
    assert call.callee is not None
    words = command_line(call.callee)
    if not words:
        return
    if is_python(words):
        if len(words) == 3 and words[1] == "-c" and "print(" in words[2] and "{{" not in words[2]:
            yield from _lines_of_python(words[2])
        return
    given = {
        f"inputs.parameters.{each.get('name')}": string(each, "value")
        for each in inside(call.data, "arguments").get("parameters") or ()
    }
    same = [_known(word, given) for word in words]
    items = _items(call) if any("{{" in word for word in same if word is not None) else None
    for item in items or [None]:
        found = [_known(word, _item(item)) for word in same]
        text = None if None in found else _echoed([word for word in found if word is not None])
        if text is not None:
            yield text


def result(call: Call) -> str | None:
    """The whole of what a task without a loop prints, if that is obvious: one command, or one `print`."""
    words = command_line(call.callee) if call.callee is not None and not call.loop else []
    if not words or "\n" in words[-1]:
        return None
    if not is_python(words):
        return next(_printed(call), None)
    try:
        body = parse(words[2]).body if len(words) == 3 and words[1] == "-c" else []
    except (SyntaxError, ValueError):
        return None
    match body:
        case [ast.Expr(ast.Call(ast.Name("print"), [ast.Constant(value)], []))] if "{{" not in words[2]:
            return str(value).strip()
        case _:
            return None


def prints_flags(call: Call) -> bool:
    """Whether a task runs a script in Python that prints nothing but a comparison, or another flag."""
    words = command_line(call.callee) if call.callee is not None and not call.loop else []
    if not is_python(words) or len(words) != 3 or words[1] != "-c" or "print(" not in words[2]:
        return False
    try:
        calls = [each for each in ast.walk(parse(words[2])) if isinstance(each, ast.Call)]
    except (SyntaxError, ValueError):
        return False
    printed = [each for each in calls if isinstance(each.func, ast.Name) and each.func.id == "print"]
    if (
        len(printed) != 1
        or len(printed[0].args) != 1
        or any(each.arg == "file" for each in printed[0].keywords)
    ):
        return False
    return _is_flag(printed[0].args[0])


def _is_flag(node: ast.expr) -> bool:
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return True
        case ast.BoolOp(values=values):
            return all(map(_is_flag, values))
        case ast.Call(func=ast.Name("bool" | "any" | "all" | "isinstance")):
            return True
        case ast.Call(func=ast.Attribute(attr="exists" | "is_file" | "is_dir" | "startswith" | "endswith")):
            return True
        case _:
            return False


def _items(call: Call) -> list[Any]:
    """The literal items of a loop; for a sequence only the first one."""
    if call.loop != "withSequence":
        return written_items(call.data)[1]
    sequence = inside(call.data, "withSequence")
    first, form = str(sequence.get("start") or 0), string(sequence, "format") or "%d"
    bare = first.isdecimal() and _NUMBER.fullmatch(form)
    return [form % int(first)] if bare and has_items(call) else []


_NUMBER = regex(r"[^%{}\"]*%0?\d?d[^%{}\"]*")
"""Formats of an integer that mean the same in Python."""


def _item(item: object) -> dict[str, str]:
    if is_mapping(item):
        fields: Object = item
        return {f"item.{key}": value for key, value in fields.items() if isinstance(value, str)}
    if isinstance(item, bool) or not isinstance(item, (str, int)):
        return {}
    return {"item": str(item)}


def _known(text: str | None, values: Mapping[str, str]) -> str | None:
    """A text with its tags replaced, or None if a value is unknown; tags of items are replaced later."""
    if text is None:
        return None
    replaced = _TAG.sub(lambda tag: values.get(tag[1], tag[0]), text)
    left = _TAG.findall(replaced)
    return replaced if all(name.startswith("item") for name in left) or not left else None


def _echoed(words: list[str]) -> str | None:
    """What a command line prints; None if that is not obvious.

    For a script of several lines, one that is not JSON: it ends with a line break, which JSON strings cannot
    contain, so that the whole output is not JSON either.
    """
    if any("{{" in word for word in words):
        return None
    name = program(words)
    is_shell = name in POSIX_SHELLS and len(words) == 3 and words[1] == "-c"
    if is_shell and "\n" in words[2]:
        return next(_lines_of_shell(words[2]), None)
    if is_shell and not _SPECIAL.search(words[2]):
        try:
            words = shlex.split(words[2])
        except ValueError:
            return None
        name = words[0] if words else ""
    # Kubernetes replaces `$(...)`, and shells differ in the options of `echo`.
    if name != "echo" or any("\\" in word or "$(" in word for word in words):
        return None
    if len(words) > 1 and words[1] != "-n" and _OPTIONS.fullmatch(words[1]):
        return None
    return " ".join(words[2:] if words[1:2] == ["-n"] else words[1:])


_OPTIONS = regex(r"-[neE]+")
_QUIET = regex(
    r"\s*(?:#.*|set [-+\w ]+|(?:export )?\w+=[\w./-]*|sleep [\d.]+|true|echo [\w ./:='\"-]*>>? ?[\w./-]+)?\s*"
)
"""A line of a shell script that prints nothing, and never ends the script."""


def _lines_of_shell(source: str) -> Iterator[str]:
    """Lines that a shell certainly prints, and that are not JSON: those before the first unknown command."""
    for line in source.split("\n"):
        if not _QUIET.fullmatch(line):
            text = None if _SPECIAL.search(line) else _echoed(["sh", "-c", line.strip()])
            if text is None:
                return
            if _is_prose(text):
                yield text


def _lines_of_python(source: str) -> Iterator[str]:
    """Lines that Python certainly prints, and that are not JSON: texts, and lists of single-quoted texts."""
    try:
        body = parse(source).body
    except (SyntaxError, ValueError):
        return
    values: dict[str, ast.expr] = {}
    for each in body:
        match each:
            case ast.Assign(targets=[ast.Name(name)], value=value):
                values[name] = value
            case ast.Expr(ast.Call(ast.Name("print"), [first, *_], [])):
                node = first
                if isinstance(first, ast.Name) and len(re.findall(rf"\b{first.id}\b", source)) == 2:
                    node = values.get(first.id, first)  # nothing changes it before it is printed
                text = _shown(node).strip()
                if text and (_is_prose(text) or (isinstance(node, _DISPLAYS) and not is_json(text))):
                    yield text
            case _:
                pass


_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def _shown(node: ast.expr) -> str:
    """The text, or its beginning, that Python prints for an expression; empty if it is unknown."""
    if isinstance(node, ast.JoinedStr):
        return _shown(node.values[0]) if node.values else ""
    try:
        return str(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ""


_PROSE = regex(r"\s*(?!(?:true|false|null)\b)[A-Za-z_][^\"]*")


def _is_prose(text: str) -> bool:
    """Whether a line begins with a word that JSON only allows inside of strings."""
    return _PROSE.fullmatch(text) is not None
