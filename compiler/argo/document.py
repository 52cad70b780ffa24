"""Values inside YAML and JSON: what an input holds cannot change what the document says.

A text is written as JSON by Argo itself, in which no brace could begin a tag and no `$` could be replaced:
the object of a `resource` template travels in an environment variable. JSON is YAML, so this serves both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.argo.pod import may_hold_dollar
from flowdsl.compiler.carry.text import control_characters, replaced_dollar
from flowdsl.compiler.encode import encode
from flowdsl.compiler.expressions import as_json, literal_with_tags, raw, text_of
from flowdsl.compiler.placing import AT, INDEX
from flowdsl.compiler.ports import WORKERS
from flowdsl.compiler.yaml.emit import emit_one
from flowdsl.grammar.names import is_label_value
from flowdsl.grammar.template import tags
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Join, Many, RunField
from flowdsl.values.textual import Textual

if TYPE_CHECKING:
    from collections.abc import Mapping

_MARK = "__flowdsl_{}__"
_WORDS = frozenset(
    (
        *("workflow.name", "workflow.namespace", "workflow.uid", "retries"),
        *(f"inputs.parameters.{name}" for name in (AT, INDEX, WORKERS)),
    )
)
"""Tags of texts without special characters."""

#: Special characters in a part of a URL that `sprig.urlJoin` keeps; it escapes all others as Go's net/url does.
_RESERVED = {"/": "%2F", "&": "%26", "+": "%2B", "=": "%3D", ";": "%3B"}


class Tagged(str):
    """A text with Argo tags in it; a plain text has none."""

    __slots__ = ()


class Source(str):
    """A script, in which Argo ignores braces."""

    __slots__ = ()


#: The owner of what a run creates, which is deleted with the run.
OWNER = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Workflow",
    "name": "{{workflow.name}}",
    "uid": "{{workflow.uid}}",
    "controller": True,
    "blockOwnerDeletion": True,
}


def plain_data(expr: object) -> tuple[Any, dict[str, str]]:
    """An object as plain data with placeholders for values of the run; and these values by placeholder."""
    marks: dict[str, str] = {}
    return _marked(expr, marks), marks


def yaml_text(data: object, marks: Mapping[str, str]) -> str:
    """Such data as YAML with the tags filled in."""
    text = emit_one(data)
    for mark, value in marks.items():
        text = text.replace(mark, value)
    return text


def _marked(thing: object, marks: dict[str, str]) -> Any:
    """Plain data, with a placeholder for each value that is written differently."""
    match thing:
        case Const(value):
            return _marked(value, marks)
        case Many(items, names):
            parts = [_marked(item, marks) for item in items]
            return dict(zip(names, parts, strict=True)) if names else parts
        case Tagged():
            value = _tagged(thing)
        case str():
            special = ("{{" in thing and not isinstance(thing, Source)) or "__flowdsl_" in thing
            if not special and replaced_dollar(thing) is None and not [*control_characters(thing)]:
                return str(thing)
            value = encode(str(thing), t.JSON)
        case dict():
            entries = cast("Mapping[str, object]", thing)
            return {key: _marked(value, marks) for key, value in entries.items()}
        case list():
            return [_marked(item, marks) for item in cast("list[object]", thing)]
        case _ if isinstance(thing, Expr):
            value = _value(thing)
        case _:
            return thing
    # As long as the value, so that lines are wrapped for the value.
    mark = _MARK.format(len(marks)).ljust(len(value), "_")
    marks[mark] = value
    return mark


def _tagged(text: str) -> str:
    """A text with tags as JSON, encoded by Argo where a value may contain more than a word."""
    pieces: list[str] = []
    end = 0
    for tag in tags(text):
        if tag.body.strip() not in _WORDS:
            return _quoted(literal_with_tags(text))
        pieces += encode(text[end : tag.start], t.JSON)[1:-1], text[tag.start : tag.end]
        end = tag.end
    return f'"{"".join(pieces)}{encode(text[end:], t.JSON)[1:-1]}"'


def json_text(expr: Expr) -> str:
    """A value as JSON with tags in it."""
    match expr:
        case Const(value):
            return encode(value, t.JSON)
        case Many(items, names):
            parts = [json_text(item) for item in items]
            if not names:
                return f"[{', '.join(parts)}]"
            entries = (f"{encode(name, t.JSON)}: {part}" for name, part in zip(names, parts, strict=True))
            return "{" + ", ".join(entries) + "}"
        case _:
            return _value(expr)


def url_text(expr: Expr) -> str:
    """A URL with tags in it; a text that is not at its beginning is one part of a path or query."""
    if not isinstance(expr, Join):
        return text_of(expr, t.TEXT)
    first, *rest = expr.parts
    pieces = [first if isinstance(first, str) else text_of(first, first.type)]
    for part in rest:
        if isinstance(part, str):
            pieces.append(part)
        elif _is_word(part):
            pieces.append(text_of(part, part.type))
        else:
            # Without the `/`, a text with a `:` would get a `./` prefix.
            found = f"sprig.urlJoin({{'path': '/' + {raw(part)}}})[1:]"
            for sign, code in _RESERVED.items():
                found = f"replace({found}, '{sign}', '{code}')"
            pieces.append(f"{{{{={found}}}}}")
    return "".join(pieces)


def _value(expr: Expr) -> str:
    """A value of the run as JSON, encoded by Argo."""
    if isinstance(expr, Join):
        if all(isinstance(part, str) or _is_word(part) for part in expr.parts):
            pieces = (
                encode(part, t.JSON)[1:-1] if isinstance(part, str) else text_of(part, part.type)
                for part in expr.parts
            )
            return f'"{"".join(pieces)}"'
        return _quoted(raw(expr))
    if not t.is_text(expr.type):
        if may_hold_dollar(expr.type):
            return f"{{{{=replace({raw(expr)}, '$', '\\\\u0024')}}}}"
        return text_of(expr, expr.type)
    return f'"{text_of(expr, expr.type)}"' if _is_word(expr) else _quoted(raw(expr))


def _quoted(formula: str) -> str:
    return f"{{{{={as_json(formula)}}}}}"


def _is_word(expr: Expr) -> bool:
    """Whether the text of a value has no characters that are special anywhere."""
    if isinstance(expr, RunField):
        return expr.name in ("name", "namespace")
    match expr.type:
        case t.Number() | t.Flag() | t.Enumeration() | Textual():
            return True
        case t.Choice(values):
            return all(is_label_value(str(value)) for value in values)
        case _:
            return False
