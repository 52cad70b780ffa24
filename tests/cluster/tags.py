"""The replacement of `{{...}}` in a part of a manifest, as Argo does it: in the text of its JSON.

Source: util/template of Argo 4.1.2. What is put into the text is scanned again by the next replacement, so data
that looks like a tag is evaluated, and what cannot be replaced may be passed on as it is.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from flowdsl.runtime.expressions.values import ExpressionError, json_of
from tests.cluster.expr import Scope, evaluate, known
from tests.cluster.golang import quoted
from tests.cluster.syntax import ExprError, names

#: What has to be resolvable: nothing, everything, or what begins with `tasks.`; the last is what a graph asks.
Strict = Literal["nothing", "everything", "tasks"]

_LATE = {"item", "retries", "workflow.status", "workflow.failures"}
_FIXES = {"\\u003c": "<", "\\u003e": ">", "\\u0026": "&"}


class ArgoError(Exception):
    """What makes Argo end a node with the phase Error."""


class Missing(ArgoError):
    """A reference to what is not there. A graph tries it again and again."""


def nested(scope: Scope) -> dict[str, Any]:
    """A scope of dotted names as maps in maps; of `a` and `a.b` the latter stays."""
    found: dict[str, Any] = {}
    for name in sorted(scope, reverse=True):
        *path, last = name.split(".")
        at = found
        for part in path:
            at = at.setdefault(part, {})
        at.setdefault(last, scope[name])
    return found


def replaced(part: Any, scope: Scope, strict: Strict) -> Any:
    """A part of a manifest with its tags replaced from a scope of dotted names.

    Raises `ArgoError`, and `Missing` where Argo would wait for the value to come.
    """
    text = json.dumps(part, ensure_ascii=False)
    if "{{" not in text:
        return part
    made = _Replacement(scope, strict).text(text)
    try:
        return json.loads(made)
    except ValueError:
        raise ArgoError("cannot finish template replacement because the result was invalid JSON") from None


class _Replacement:
    def __init__(self, scope: Scope, strict: Strict) -> None:
        self.scope = scope
        self.strict = strict
        self._nested: dict[str, Any] | None = None

    @property
    def nested(self) -> dict[str, Any]:
        if self._nested is None:
            self._nested = nested(self.scope)
        return self._nested

    def text(self, text: str) -> str:
        found: list[tuple[str, str]] = []
        end = 0
        while (start := text.find("{{", end)) >= 0:
            stop = text.find("}}", start + 2)
            if stop < 0:
                raise ArgoError('Cannot find end tag="}}"')
            found.append((text[end:start], text[start + 2 : stop]))
            end = stop + 2
        return "".join(before + self.tag(tag) for before, tag in found) + text[end:]

    def tag(self, tag: str) -> str:
        return self.expression(tag[1:]) if tag.startswith("=") else self.simple(tag)

    def needed(self, name: str) -> bool:
        if self.strict == "everything":
            return True
        return self.strict == "tasks" and name.split(".", maxsplit=1)[0] in ("tasks", "steps")

    def simple(self, tag: str) -> str:
        name = tag.strip()
        if name not in self.scope:
            head, braces, inner = tag.rpartition("{{")
            if braces and head and inner in self.scope:
                if self.scope[inner] is None:
                    raise ArgoError(f"unable to substitute nested tag {{{{{tag}}}}}")
                return "{{" + head + quoted(str(self.scope[inner]))
            later = self.strict == "tasks" and ".outputs.artifacts." in name
            if self.needed(name) and not later:
                raise Missing(f"failed to resolve {{{{{tag}}}}}")
            return f"{{{{{tag}}}}}"
        value = self.scope[name]
        if value is None:
            raise ArgoError(f"unable to substitute {{{{{tag}}}}}: output is an absent optional")
        return quoted(str(value))

    def expression(self, escaped: str) -> str:
        for one, other in _FIXES.items():
            escaped = escaped.replace(one, other)
        unresolved = f"{{{{={escaped}}}}}"
        try:
            text: str = json.loads(f'"{escaped}"')
        except ValueError as error:
            if self.strict == "nothing":
                return unresolved
            raise ArgoError(f"failed to unmarshall JSON expression: {error}") from None
        try:
            missing = [name for name in names(text) if not known(self.nested, name)]
        except ExprError as error:  # of its syntax
            raise ArgoError(f"failed to evaluate expression: {error}") from None
        for name in missing:
            if self.needed(name):
                raise Missing(f"failed to evaluate expression: {name} is missing")
        lenient = bool(missing) or self.strict == "nothing"
        if lenient and any(name in _LATE for name in missing):
            return unresolved
        try:
            value = evaluate(text, self.nested)
            if value is None:
                raise ExprError(f"failed to evaluate expression {text!r}")
            made = json_of(value)
        except (ExprError, ExpressionError) as error:
            if lenient:
                return unresolved
            raise ArgoError(f"failed to evaluate expression: {error}: {text}") from None
        return made[1:-1] if isinstance(value, str) else quoted(made)


def leftover(part: Any) -> str | None:
    """A tag that Argo meant to replace and did not, so that a container would get its text; or None."""
    for tag in re.findall(r"\{\{(.*?)\}\}", json.dumps(part, ensure_ascii=False)):
        root = tag.strip().partition(".")[0]
        if root.startswith("=") or root in ("inputs", "outputs", "tasks", "steps", "workflow"):
            return f"{{{{{tag}}}}}"
    return None
