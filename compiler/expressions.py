"""Expressions as Argo reads them: tags in text, and formulas of expr-lang inside `{{=...}}`.

Rules that hold for everything written here (each proven on a real controller): no `let`, no name that
Argo does not know, because either turns a failing expression into literal text; names of tasks and
parameters in index form, which is valid for every name; every value is text until it is converted,
whole numbers by `asInt` and floats by `asFloat`, which are exact; `}}` never occurs inside a tag.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from flowdsl.compiler.encode import EXACT, encode
from flowdsl.grammar.regex import regex
from flowdsl.values import types as t
from flowdsl.values.expr import (
    Attempt,
    BestRow,
    Cell,
    Const,
    Either,
    Expr,
    Get,
    Item,
    Join,
    Many,
    OnVolume,
    Op,
    Out,
    Param,
    Ran,
    RunField,
    Status,
)

VOLUMES = "/flowdsl/volumes"

DIGITS = 10
"""Hexadecimal digits of a name derived from a text: enough for the runs of a namespace."""

_INEXACT = "Argo rounds whole numbers beyond 53 bits"

_OPERATORS = {"&": "&&", "|": "||"}
_ESCAPES = {
    **{code: f"\\u{code:04x}" for code in (*range(32), 127)},
    **str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}),
}
_BRACES = regex(r"\{(?=\{)|\}(?=\})")


def literal(text: str) -> str:
    """A text as an expr-lang literal without braces that Argo could take for the end of the tag."""
    quoted = f"'{text.translate(_ESCAPES)}'"
    apart = _BRACES.sub(lambda brace: f"{brace[0]}' + '", quoted)
    return quoted if apart == quoted else f"({apart})"


def text_of(expr: Expr, want: t.Type) -> str:
    """The text, with tags, that has the value of an expression, as a parameter of the type."""
    if isinstance(expr, Const):
        return encode(expr.value, want)
    if expr.type is want and (tag := simple(expr)) is not None:
        return tag
    match expr:
        case OnVolume(volume, path):
            return f"{VOLUMES}/{volume.name}/{text_of(path, t.TEXT).lstrip('/')}"
        case Many():
            return _composed(expr, want)
        case Join(parts) if t.is_text(want) and not _brace_before_value(parts):
            return "".join(part if isinstance(part, str) else text_of(part, part.type) for part in parts)
        case _:
            pass
    quote = _needs_quotes(expr.type, want)
    if not quote and (tag := simple(expr)) is not None:
        return tag
    return "{{=" + (f"toJSON({raw(expr)})" if quote else shown(expr)) + "}}"


_IN_A_ROW = 100
"""At most so many texts are concatenated without parentheses: the expression parser accepts twice as many."""


def _added(pieces: list[str]) -> str:
    """The formula that concatenates texts."""
    while len(pieces) > 1:
        groups = [pieces[at : at + _IN_A_ROW] for at in range(0, len(pieces), _IN_A_ROW)]
        pieces = [f"({' + '.join(group)})" if len(group) > 1 else group[0] for group in groups]
    return pieces[0]


def _brace_before_value(parts: tuple[str | Expr, ...]) -> bool:
    """Whether there is, or may be at run time, a brace that Argo would take for a part of the tag after it."""
    return any(
        part.endswith("{") if isinstance(part, str) else _may_have_braces(part) and _begins_a_tag(after)
        for part, after in pairwise(parts)
    )


def _may_have_braces(part: Expr) -> bool:
    """Whether a value may contain the user's text: names of runs and tasks, and keys, have no braces."""
    own = isinstance(part, (Param, Out)) and part.name.startswith("flowdsl-")
    return t.is_text(part.type) and not own and not isinstance(part, (RunField, Attempt, Status))


def _begins_a_tag(part: str | Expr) -> bool:
    return part.startswith("{") if isinstance(part, str) else True


def simple(expr: Expr) -> str | None:
    """The simple tag of a reference, or None if an expression is needed."""
    match expr:
        case Out(task, name, _, variable):
            return f"{{{{tasks.{task}.{variable or f'outputs.parameters.{name}'}}}}}"
        case Param(name, _, of_run):
            return f"{{{{{'workflow' if of_run else 'inputs'}.parameters.{name}}}}}"
        case Item(name):
            return f"{{{{item.{name}}}}}" if name else "{{item}}"
        case RunField("failures" | "scheduled_time"):
            return None
        case RunField(name):
            return f"{{{{workflow.{name}}}}}"
        case Attempt():
            return "{{retries}}"
        case Status(task):
            return f"{{{{tasks.{task}.status}}}}"
        case _:
            return None


def condition(expr: Expr) -> str:
    """A condition as the text of `when`: one expression that evaluates to `true` or `false`."""
    return "{{=" + formula(expr) + "}}"


def _needs_quotes(have: t.Type, want: t.Type) -> bool:
    return t.is_text(have) and not t.is_text(want) and not isinstance(want, t.File)


def _composed(many: Many, want: t.Type) -> str:
    want = t.without_none(want)
    kinds = t.parts(want, len(many.items)) or [item.type for item in many.items]
    items = [text_of(item, _json(kind)) for item, kind in zip(many.items, kinds, strict=True)]
    if not isinstance(want, (t.Record, t.Entries, t.Mapping, t.Json)) or not many.names:
        return f"[{', '.join(items)}]"
    keys = [encode(name, t.JSON) for name in many.names]
    return "{" + ", ".join(f"{key}: {item}" for key, item in zip(keys, items, strict=True)) + "}"


def _json(kind: t.Type) -> t.Type:
    """The type as a part of a JSON value, where texts are quoted."""
    return t.JSON if t.is_text(kind) or isinstance(kind, t.File) else kind


#: The failures, as a list. Argo has JSON in the text of a JSON string, and null where nothing failed. A message
#: may contain tags and `$`, which are escaped: two adjacent braces occur only inside the texts of JSON.
_FAILURES = (
    "replace(replace(toJSON(map(fromJSON(fromJSON(workflow.failures)) ?? [], "
    "({'name': #.displayName, 'message': #.message, 'template': #.templateName, "
    "'phase': #.phase, 'pod': #.podName, 'finished_at': string(#.finishedAt ?? '')}))), "
    "'{' + '{', '\\\\u007b\\\\u007b'), '$', '\\\\u0024')"
)


def ref(expr: Out | Param | Item | RunField | Attempt | Status | Cell | BestRow) -> str:
    """The formula for the text of a reference."""
    match expr:
        case Out(task, name, _, variable):
            return (
                f"tasks['{task}'].{variable}" if variable else f"tasks['{task}'].outputs.parameters['{name}']"
            )
        case Param(name, _, of_run):
            return f"{'workflow' if of_run else 'inputs'}.parameters['{name}']"
        case Item(name):
            return f"item['{name}']" if name else "item"
        case RunField("failures"):
            return _FAILURES
        case RunField("scheduled_time"):
            return _SCHEDULED
        case RunField(name):
            return f"workflow.{name}"
        case Attempt():
            return "retries"
        case Status(task):
            return f"tasks['{task}'].status"
        case Cell(rows, index, name):
            at = _position(index) if isinstance(index, Item) else index
            row = f"fromJSON({raw(rows)})" if at is None else f"fromJSON({raw(rows)})[{at}]"
            return f"{row}[{literal(name)}]"
        case BestRow():
            return _best(expr)


def _best(best: BestRow) -> str:
    """The first row with the best metric; NaN, infinities and missing rows do not count.

    Fewer usable rows than required is an error whose text says so: Argo shows the source of the
    expression that failed.
    """
    rows = f"fromJSON({raw(best.rows)})"
    output, *fields = best.metric.split(".")
    metric = f"asFloat(#{member(output)})"
    if fields:
        metric = f"fromJSON(#{member(output)}){''.join(map(member, fields))}"
    usable = f"filter({rows}, abs({metric}) < asFloat('Inf'))"
    few = f"fewer than {best.minimum} trials" if best.minimum > 1 else "no trial"
    short = literal(f"{few} of {best.loop} returned a usable {best.metric}")
    found = f"toJSON(filter({rows}, {metric} == {best.goal}(map({usable}, {metric})))[0])"
    return f"len({usable}) < {best.minimum} ? fromJSON({short}) : {found}"


def member(name: str) -> str:
    """Access to a field by name: `.name`, or the index form where that is not an identifier."""
    return f".{name}" if name.isidentifier() else f"['{name}']"


def raw(expr: Expr) -> str:
    """The formula for the text of a value: plain for texts, JSON for everything else."""
    match expr:
        case Const(value, kind):
            return literal(encode(value, kind))
        case Out() | Param() | Item() | RunField() | Attempt() | Status() | Cell() | BestRow():
            return ref(expr)
        case Either(choices, kind):
            return _either(choices, kind)
        case Join(parts):
            return _added([literal(part) if isinstance(part, str) else raw(part) for part in parts])
        case OnVolume() | Many():
            return literal_with_tags(text_of(expr, expr.type))
        case Op("?:", (asked, one, two)):
            return f"({formula(asked)} ? {raw(one)} : {raw(two)})"
        case Op("numbers" | "failed"):
            return f"toJSON({formula(expr)})"
        case Op("concat", lists):
            # Of empty lists it makes null, which filter turns back into a list.
            return f"toJSON(filter(concat({', '.join(f'fromJSON({raw(one)})' for one in lists)}), true))"
        case Op("listed", (rows, Const(within)), t.Sequence(item)):
            return _listed(raw(rows), item, within)
        case Op("json", (of,)):
            return f"toJSON({raw(of)})"
        case Op("digest", (of,)):
            return f"sprig.trunc({DIGITS}, sprig.sha256sum({raw(of)}))"
        case Get(of, Item() as item) if _of_integers(of):
            return _digits(of, _position(item))  # each item exists: as it was written, of any size
        case Get() if not t.is_text(expr.type):
            return f"toJSON({formula(expr)})"
        case Get():
            return formula(expr)
        case _:
            return f"string({formula(expr)})"


def _listed(rows: str, item: t.Type, within: dict[str, Any]) -> str:
    """The formula for the results of a loop as a JSON list.

    A row has texts, which are already JSON for values; outputs named in `within` are themselves rows of a loop.
    """

    def cell(out: t.Output) -> str:
        text = f"#{member(out.name)}"
        if out.name in within:
            some = t.without_none(out.type)
            return _listed(text, some.item if isinstance(some, t.Sequence) else t.JSON, within[out.name])
        return as_json(text) if t.is_text(out.type) else text

    made = "'null'"
    if not isinstance(item, t.Nothing):
        made = t.assembled(item, {out.keys: cell(out) for out in t.outputs(item)}, _object)
    return f"'[' + join(map(fromJSON({rows}), {made}), ', ') + ']'"


def as_json(formula: str) -> str:
    """The formula for a text as a JSON string, without anything that Argo or the kubelet would substitute."""
    return f"replace(replace(toJSON({formula}), '{{', '\\\\u007b'), '$', '\\\\u0024')"


def _object(kind: t.Record | t.Fixed, parts: list[str]) -> str:
    """The formula for a record or tuple whose parts are JSON."""
    if isinstance(kind, t.Record):
        names = [encode(str(key), t.JSON) for key, _ in t.keyed(kind)]
        parts = [f"{literal(f'{name}: ')} + {part}" for name, part in zip(names, parts, strict=True)]
    inside = " + ', ' + ".join(parts) or "''"
    return f"'{{' + {inside} + '}}'" if isinstance(kind, t.Record) else f"'[' + {inside} + ']'"


#: The scheduled time, which only runs of a schedule have. In expressions `creationTimestamp` has only its formats.
_SCHEDULED = "(workflow.scheduledTime ?? workflow.creationTimestamp.RFC3339)"


def handed_on(expr: Expr) -> str:
    """The formula of an output of a graph: `workflow` is not in scope, but tags in its texts are replaced before."""
    match expr:
        case RunField():
            return f"'{simple(expr)}'"
        case Join(parts):
            pieces = [literal(part) if isinstance(part, str) else handed_on(part) for part in parts]
            return f"({' + '.join(pieces)})"
        case Op("json", (of,)):
            return f"toJSON({handed_on(of)})"
        case _:
            return raw(expr)


def literal_with_tags(text: str) -> str:
    """Text with simple tags as a formula; tags that Argo fills become references."""
    from flowdsl.grammar.template import is_filled, tags

    pieces: list[str] = []
    end = 0
    for tag in tags(text):
        if not is_filled(text[tag.start : tag.end]):
            continue
        if tag.start > end:
            pieces.append(literal(text[end : tag.start]))
        body = tag.body.strip()
        pieces.append(f"string({body.removeprefix('=')})" if tag.kind == "expression" else _path(body))
        end = tag.end
    if end < len(text) or not pieces:
        pieces.append(literal(text[end:]))
    return pieces[0] if len(pieces) == 1 else f"({' + '.join(pieces)})"


def _path(tag: str) -> str:
    root, _, rest = tag.partition(".")
    if root in ("workflow", "item", "node"):
        return tag
    if root == "inputs":
        return f"inputs.parameters['{rest.removeprefix('parameters.')}']"
    task, found, name = rest.partition(".outputs.parameters.")
    if not found:
        task, _, variable = rest.partition(".")
        return f"tasks['{task}'].{variable}"
    return f"tasks['{task}'].outputs.parameters['{name}']"


def _either(choices: tuple[Expr, ...], kind: t.Type) -> str:
    """The first choice that exists; `null` counts as missing where there is anything else."""
    first, *rest = choices
    text, quote = raw(first), _needs_quotes(first.type, kind)
    if not rest:
        text = f"toJSON({text})" if quote else text
        return f"({text} ?? 'null')" if isinstance(kind, t.Maybe) and isinstance(first, Out) else text
    other = _either(tuple(rest), kind)
    if isinstance(first.type, t.Maybe) and not (isinstance(rest[0], Const) and rest[0].value is None):
        inner = f"fromJSON({text})" if t.is_text(first.type.item) and t.is_text(kind) else text
        return f"({text} == 'null' ? {other} : {inner})"
    return f"toJSON({text} ?? fromJSON({other}))" if quote else f"({text} ?? {other})"


def shown(expr: Expr) -> str:
    """The formula whose result, as Argo formats it in a text, is the text of the value."""
    match expr:
        case Op("?:" | "numbers" | "failed" | "listed" | "json" | "digest"):
            return raw(expr)
        case Op() | Ran():
            return formula(expr)
        case Get(of, key, t.Number() | t.Flag()) if not (isinstance(key, Item) and _of_integers(of)):
            return formula(expr)
        case _:
            return raw(expr)


def formula(expr: Expr) -> str:
    """The formula for a value as a number, a boolean, a text, or parsed JSON."""
    match expr:
        case Const(value, t.Flag()):
            return "true" if value else "false"
        case Const(value) if _is_number(expr):
            return _number(value)
        case Op("not", (arg,)):
            return f"not({formula(arg)})"
        case Op("==" | "!=" as operator, (left, right)) if not (_is_number(left) and _is_number(right)):
            return f"{_compared(left, right)} {operator} {_compared(right, left)}"
        case Op("&" | "|" as operator, args):
            return f" {_OPERATORS[operator]} ".join(f"({formula(arg)})" for arg in args)
        case Op("?:", (asked, one, two)):
            return f"({formula(asked)} ? {formula(one)} : {formula(two)})"
        case Op("numbers", (end,)):
            return f"0..{_operand(end)}-1"
        case Op("failed", (rows, items, *outer)):
            last = f"{items.value - 1}" if isinstance(items, Const) else f"{length(items)}-1"
            place = " + ".join([*map(raw, outer), "'/'", "string(#)"])
            return f"filter(0..{last}, not(({place}) in map(fromJSON({raw(rows)}), #['flowdsl-index'])))"
        case Op("/", (left, right)) if not (isinstance(right, Const) and right.value):
            # Argo would continue with an infinity.
            divisor = _operand(right)
            return f"({divisor} == 0 ? asInt('division by zero') : {_operand(left)} / {divisor})"
        case Op(operator, (left, right)):
            return f"{_operand(left)} {operator} {_operand(right)}"
        case Ran(task):
            return f"tasks['{task}'].status == 'Succeeded'"
        case Get(of, key, kind):
            index = _index(key)
            if _of_integers(of):
                return f"asInt({_digits(of, index)})"
            found = f"{_json_of(of)}[{index}]"
            if not whole(kind):
                return found
            return f"(abs({found}) < {EXACT} ? int({found}) : fromJSON({literal(_INEXACT)}))"
        case _:
            return _converted(raw(expr), expr.type)


def _index(key: str | int | Item) -> str:
    """The formula for the place of an entry in a list, or in an object."""
    if isinstance(key, Item):
        return _position(key)
    return literal(key) if isinstance(key, str) else str(key)


def whole(kind: t.Type) -> bool:
    """Whether values of the type are integers."""
    return t.base(kind) == t.INT


def _of_integers(items: Expr) -> bool:
    """Whether the text of a list of integers is available, so that each can be taken as it was written."""
    return isinstance(items.type, t.Sequence) and whole(items.type.item) and not isinstance(items, Get)


def _digits(items: Expr, index: object) -> str:
    """The formula for one number of a list of integers, as it was written."""
    return f"trim(split(trim(trim({raw(items)}), '[]'), ',')[{index}])"


def _position(item: Item) -> str:
    """The formula for the number of the element that belongs to the item of a loop."""
    number = f"asInt({ref(item)})"
    if not item.within:
        return number
    own, *faster = map(length, item.within)
    if faster:
        number = f"int({' / '.join((number, *faster))})"
    return f"{number} % {own}"


def length(items: Expr) -> str:
    """The formula for the number of elements of a list, or of combinations of the elements of several."""
    if isinstance(items, Op) and items.op == "numbers":
        return _operand(items.args[0])
    if isinstance(items, Op) and items.op == "combinations":
        return " * ".join(map(length, items.args))
    return f"len(fromJSON({raw(items)}))"


def _is_number(expr: Expr) -> bool:
    return isinstance(t.base(expr.type), t.Number)


def _number(value: float) -> str:
    if not math.isfinite(value):  # expressions have no name for it
        return f"asFloat('{'NaN' if math.isnan(value) else 'Inf' if value > 0 else '-Inf'}')"
    return f"({value!r})" if math.copysign(1, value) < 0 else repr(value)


def _operand(expr: Expr) -> str:
    text = formula(expr)
    return f"({text})" if isinstance(expr, Op) and expr.op != "?:" else text


def _compared(side: Expr, other: Expr) -> str:
    """One side of an equality of texts, booleans or optional values."""
    if isinstance(t.base(side.type), t.Flag) and isinstance(t.base(other.type), t.Flag):
        return f"({formula(side)})"
    if isinstance(side, Const):
        return literal(encode(side.value, t.JSON if isinstance(other.type, t.Maybe) else other.type))
    return raw(side)


def _json_of(expr: Expr) -> str:
    return formula(expr) if isinstance(expr, Get) else f"fromJSON({raw(expr)})"


def _converted(text: str, kind: t.Type) -> str:
    match t.base(kind):
        case t.Number("int"):
            return f"asInt({text})"
        case t.Number():
            return f"asFloat({text})"
        case t.Flag():
            return f"{text} == 'true'"
        case _:
            return text if t.is_text(kind) or isinstance(kind, t.File) else f"fromJSON({text})"
