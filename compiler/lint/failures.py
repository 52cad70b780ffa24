"""Expressions that can fail where the run does not end because of it, and outputs that may be missing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.typing_findings import PassedOn, SkippedInText
from flowdsl.compiler.problem import Fault
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.expression import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.view import Call, Template, View

_FAILING = frozenset(("fromJSON", "jsonpath", "fromBase64", "date", "duration"))
_CONVERSIONS = frozenset(("asInt", "asFloat", "int", "float"))
"""What fails of a text that is no number; the output of a step that writes numbers is one."""


_SIGNS = re.compile(r"\w\(|\[[^']|[/%]")
"""What an expression holds that can fail."""


def passed_on(text: str, node: t.Node) -> Iterator[Fault]:
    """The finding about a `let` in a tag: where it fails, Argo takes its name for a variable that comes later.

    Source: a real controller, and missingVarsInEnv in util/template/expression_template.go.
    """
    if (failing := _failing(node, _FAILING | _CONVERSIONS)) is None:
        return
    if any(isinstance(each, t.Let) for each in t.walk(node)):
        effect = "the text of the whole expression is passed on as the value, because of its `let`"
        way = "write the value in place of the name, without `let`"
        yield _passed_on(text, failing, effect, way)


def _passed_on(text: str, failing: t.Node, effect: str, way: str) -> Fault:
    part = failing.start, failing.end
    return Fault(PassedOn(text[slice(*part)], effect, way), part)


def can_fail(view: View, template: Template, text: str) -> Iterator[Fault]:
    """The finding about an output of a DAG that another task waits for: where it fails, the run never ends."""
    if template.body != "dag" or not _SIGNS.search(text):
        return
    for call in view.calls:
        if call.callee is template and call.owner.body == "dag" and _awaited(call):
            if (failing := _failing(parse(text), _FAILING)) is None:
                return
            effect = f"the run never ends, because a task waits for `{call.name}`"
            way = "hand the text on as it is, and compute where it is used"
            yield _passed_on(text, failing, effect, way)
            return


def _awaited(call: Call) -> bool:
    position = call.owner.call_index.get(call.name, -1)
    return any(position in needs for needs in call.owner.dag.needs)


@lru_cache(maxsize=4096)
def _failing(node: t.Node, functions: frozenset[str]) -> t.Node | None:
    """The first part that may fail: one of the functions, an item of a list, a division."""
    for each in t.walk(node):
        match each:
            case t.Call(function) if function in functions:
                return each
            case t.Member(_, t.Literal(str())):
                pass
            case t.Member() | t.Binary("/" | "%"):
                return each
            case _:
                pass
    return None


def skipped_in_text(producer: Call, call: Call, name: str, output: str) -> SkippedInText | None:
    """The finding about an output of a call with a `when`, inside a text of a call that runs without it."""
    if producer.data.get("when") in (None, "", "true") or "when" in call.data or call.parent is not None:
        return None
    kind, _, last = output.rpartition(".")
    callee = producer.callee
    if callee is None or (kind != "outputs.parameters" and output != "outputs.result"):
        return None
    declared = callee.output_parameters.get(last, {}) if kind == "outputs.parameters" else {}
    if "default" in (declared.get("valueFrom") or {}):
        return None
    word = re.escape(producer.name)
    waits = str(call.data.get("depends") or "")
    if re.search(rf"(?<![-\w]){word}\.(?!Skipped|Omitted)", waits):
        return None
    way = f"write `{{{{=... + (tasks['{producer.name}'].{kind or output}['{last}'] ?? '') + ...}}}}`"
    if kind != "outputs.parameters":
        way = f"write an expression with `?? ''` behind `{name}`"
    return SkippedInText(
        producer.name, f"{{{{{name}}}}}", way.replace("tasks[", f"{name.partition('.')[0]}[")
    )
