"""Replaces `{{...}}` in a part of a manifest as Argo does: in its JSON text.

Source: util/template of Argo 4.1.2. Inserted text is scanned again by the next replacement, so that data which looks
like a tag is evaluated, and a tag that cannot be replaced may be passed on unchanged.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from flowdsl.compiler.evaluation import go_json
from flowdsl.compiler.evaluation.evaluate import evaluate
from flowdsl.compiler.evaluation.go_quote import escaped, quoted
from flowdsl.compiler.evaluation.values import ExpressionError, NotHere, json_of
from flowdsl.compiler.tree import is_mapping
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.functions import builtins, sprig

if TYPE_CHECKING:
    from flowdsl.runtime.local.controller.scope import Scope

Strict = Literal["nothing", "everything", "results"]
"""Which references must exist: none, all, or those that begin with `tasks.` or `steps.`."""

_LAST = tuple(f"lastRetry.{name}" for name in ("exitCode", "status", "duration", "message"))
_LATE = frozenset(("item", "retries", "workflow.status", "workflow.failures", *_LAST))
_ADDED = frozenset(("sprig", "asInt", "asFloat", "toJson", "jsonpath"))
_written = json.JSONEncoder(ensure_ascii=False).encode
ESCAPES = {"\\u003c": "<", "\\u003e": ">", "\\u0026": "&"}
"""Escapes of some characters in JSON that Go writes. Argo reverts them in expressions (jsonutil.Fix)."""


class ArgoError(Exception):
    """An error that ends a node with the phase Error."""


class Missing(ArgoError):
    """A reference to a missing value: Argo retries it, forever if the value never appears."""


def replaced(part: Any, scope: Scope, strict: Strict) -> Any:
    """A part of a manifest with its tags replaced. Raises ArgoError, and Missing where Argo would wait."""
    if not tagged(part):
        return part
    made = _text(_written(part), scope, strict)
    try:
        return json.loads(made)
    except ValueError:
        raise ArgoError("cannot finish template replacement because the result was invalid JSON") from None


def tagged(part: Any) -> bool:
    """Whether any text of a part contains the beginning of a tag."""
    todo = [part]
    for one in todo:
        if isinstance(one, str):
            if "{{" in one:
                return True
        elif isinstance(one, dict):
            todo += one
            todo += one.values()
        elif isinstance(one, list):
            todo += one
    return False


def _text(text: str, scope: Scope, strict: Strict) -> str:
    parts: list[str] = []
    end = 0
    while (start := text.find("{{", end)) >= 0:
        stop = text.find("}}", start + 2)
        if stop < 0:
            rest = text[start + 2 : start + 102]
            raise ArgoError(
                f'unable to parse argo variable: Cannot find end tag="}}}}" starting from {rest!r}'
            )
        tag = text[start + 2 : stop]
        parts.append(text[end:start])
        parts.append(
            _expression(tag[1:], scope, strict) if tag.startswith("=") else _simple(tag, scope, strict)
        )
        end = stop + 2
    return "".join((*parts, text[end:]))


def _needed(name: str, strict: Strict) -> bool:
    if strict == "everything":
        return True
    return strict == "results" and name.split(".", maxsplit=1)[0] in ("tasks", "steps")


def _simple(tag: str, scope: Scope, strict: Strict) -> str:
    name = tag.strip()
    found, value = scope.find(name)
    if not found or isinstance(value, dict):  # an artifact has no text; it is resolved where it is declared
        head, braces, inner = tag.rpartition("{{")
        if braces and head:
            there, inside = scope.find(inner)
            if there and inside is None:
                raise ArgoError(
                    f'unable to substitute nested tag {{{{{tag}}}}}: "{inner}" is an absent optional'
                )
            if there and isinstance(inside, str):
                return "{{" + head + escaped(inside)
        later = strict != "everything" and ".outputs.artifacts." in name
        if _needed(name, strict) and not later:
            raise Missing(f"failed to resolve {{{{{tag}}}}}")
        return f"{{{{{tag}}}}}"
    if value is None:
        raise ArgoError(
            f"unable to substitute {{{{{tag}}}}}: output is an absent optional "
            "(skipped/omitted node with no default)"
        )
    return escaped(value)


def _expression(inside: str, scope: Scope, strict: Strict) -> str:
    for one, other in ESCAPES.items():
        inside = inside.replace(one, other)
    unresolved = f"{{{{={inside}}}}}"
    try:
        text: str = go_json.loads(f'"{inside}"')
    except go_json.JsonError as error:
        raise ArgoError(f"failed to unmarshall JSON expression: {error}") from None
    try:
        missing = [name for name in identifiers(text) if not _known(scope.tree, name)]
    except GrammarError as error:
        raise ArgoError(f"failed to evaluate expression: {error}: {text}") from None
    wanted = [name for name in missing if _needed(name, strict)]
    if wanted:  # where the run waits for it, the full name is reported
        name = wanted[0] if strict == "everything" else max(wanted, key=len)
        raise Missing(f"failed to evaluate expression: {name} is missing")
    lenient = bool(missing) or strict == "nothing"
    if lenient and any(name in _LATE for name in missing):
        return unresolved
    try:
        value = evaluate(text, scope.tree)
        if value is None:
            if lenient:
                return unresolved
            raise ArgoError(f"failed to evaluate expression {quoted(text)}")
    except NotHere as error:
        raise ArgoError(f"flowdsl run does not compute `{text}`: {error}") from None
    except ExpressionError as error:
        if lenient:
            return unresolved
        raise ArgoError(f"failed to evaluate expression: {error}") from None
    try:
        made = json_of(value)
    except ExpressionError as error:
        if lenient:
            return unresolved
        raise ArgoError(f"failed to marshal evaluated expression: {error}") from None
    return made[1:-1] if made.startswith('"') else escaped(made)  # a time is a string in JSON, too


def _known(tree: dict[str, Any], name: str) -> bool:
    at: Any = tree
    for part in name.split("."):
        if not is_mapping(at) or part not in at:
            root, _, function = name.partition(".")
            return root in _ADDED and (root != "sprig" or not function or function in sprig())
        at = at[part]
    return True


_IDENTIFIERS: dict[str, tuple[str, ...]] = {}


def identifiers(text: str) -> tuple[str, ...]:
    """The names that Argo treats as variables, including what `let` binds, and unknown functions.

    A path to the left of `??`, or before `?.`, is not included, but its first name is. Raises GrammarError.
    Source: getIdentifiers in util/template/expression_template.go.
    """
    if text not in _IDENTIFIERS:
        found: dict[str, None] = {}
        _walk(parse(text), False, found)
        if len(_IDENTIFIERS) > 4096:
            _IDENTIFIERS.clear()
        _IDENTIFIERS[text] = tuple(found)
    return _IDENTIFIERS[text]


def _walk(node: t.Node, guarded: bool, found: dict[str, None]) -> None:
    match node:
        case t.Name(name):
            found[name] = None
        case t.Member(of, _, optional):
            _walk(of, guarded or (optional and isinstance(of, t.Member)), found)
            _walk(node.key, False, found)
            if not guarded and not optional and (path := _path(node)) is not None:
                found[".".join(path)] = None
        case t.Binary("??", left, right):
            _walk(left, True, found)
            _walk(right, guarded, found)
        case t.Call(name, arguments):
            if name not in builtins() and name not in _ADDED:
                found[name] = None
            for argument in arguments:
                _walk(argument, guarded, found)
        case _:
            for part in t.children(node):
                _walk(part, guarded, found)


def _path(node: t.Node) -> tuple[str, ...] | None:
    if isinstance(node, t.Name):
        return (node.name,)
    if isinstance(node, t.Member) and not node.optional and isinstance(node.key, t.Literal):
        before = _path(node.of)
        return None if before is None or not isinstance(node.key.value, str) else (*before, node.key.value)
    return None
