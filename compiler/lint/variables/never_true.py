"""Conditions that can never be true where they stand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODY_OF
from flowdsl.compiler.lint.manifest.dag import inner_first
from flowdsl.compiler.lint.manifest.template import callees
from flowdsl.compiler.lint.variables.hyphens import as_dotted
from flowdsl.compiler.lint.variables.typing_findings import NeverEqual
from flowdsl.compiler.lint.variables.uses import loop_of
from flowdsl.compiler.lint.workflow.printed import prints_flags
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import inside, string
from flowdsl.grammar import depends as grammar
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View

_COMPARED = regex(
    r"""
    (?P<quote>['"]?)
    (?: \{\{\s* (?P<tag>[\w.-]+) \s*\}\}
      | (?P<name> \b(?:tasks|steps|workflow) (?: \.\w+ | \['[^']+'\] | \["[^"]+"\] )+ ) )
    (?P=quote) \s*==\s*
    (?: '(?P<single>[^']*)' | "(?P<double>[^"]*)" | (?P<word>\w+) )
    """,
    re.VERBOSE,
)
_RESULTS = {"Failed": "Failed", "Error": "Errored"}
"""The phases of a failed task, with the words for them in `depends`."""


def never(view: View) -> Iterator[Problem]:
    """No condition is impossible: a failure of what must succeed, the end of the run, one value of a loop."""
    ending: set[int] | None = None
    for call in view.calls:
        field = "when" if call.parent is None else "expression"
        asked: object = call.data.get(field)
        if not isinstance(asked, str) or "==" not in asked:
            continue
        for found in _COMPARED.finditer(asked):
            name = found["tag"] or as_dotted(found["name"])
            word = next(found[each] or "" for each in ("single", "double", "word") if found[each] is not None)
            if name == "workflow.status" and ending is None:
                ending = _at_end(view)
            reason = _reason(view, call, name, word, ending or set())
            if reason is not None:
                finding = NeverEqual(found[0], "false", *reason)
                yield Problem((*call.path, field), finding, part=found.span())


def _reason(view: View, call: Call, name: str, word: str, ending: set[int]) -> tuple[str, str] | None:
    """Why a variable cannot have a value where a call is, and the fix."""
    root, _, rest = name.partition(".")
    if call.parent is not None and name != "workflow.status":
        return None
    if BODY_OF.get(root) == call.owner.body and ".outputs." in rest and word[:1] != "[":
        loop = loop_of(call.owner, name)
        return _printed(call, rest, word) if loop is None else _gathered(loop)
    if root in BODY_OF and rest.endswith(".status") and word in _RESULTS:
        producer = call.owner.call(rest.removesuffix(".status"))
        return None if producer is None else _success(call, producer, word)
    if not view.runs or view.base is not None:
        return None
    if name == "workflow.status" and word in ("Succeeded", *_RESULTS) and id(call.owner) not in ending:
        in_hook = "ask for the status of the task or step itself, or write the hook below `spec.hooks`"
        in_call = "ask for it in a template that `onExit` or a hook of the run itself names"
        return "the run has not ended yet", in_call if call.parent is None else in_hook
    choices: list[str] = view.arguments.get(rest.removeprefix("parameters."), {}).get("enum") or []
    if name.startswith("workflow.parameters.") and choices and word not in choices:
        return f"no value of it is `{word}`", f"write one of {', '.join(f'`{each}`' for each in choices)}"
    return None


def _printed(call: Call, output: str, word: str) -> tuple[str, str] | None:
    """Why what a script in Python prints is not a word of YAML or JSON, and the fix."""
    name, _, rest = output.partition(".")
    producer = call.owner.call(name) if rest == "outputs.result" and word in ("true", "false") else None
    if producer is None or word.title() in string(call.data, "when") or not prints_flags(producer):
        return None
    return "Python prints `True` and `False`", f"write `{word.title()}` in place of `{word}`"


def _gathered(loop: Call) -> tuple[str, str]:
    """Why an output of a loop cannot be one value, and the fix."""
    way = f"ask in the template that `{loop.name}` calls, or loop over the list by `withParam`"
    return f"`{loop.name}` is a loop, whose outputs come as a list in JSON", way


def _success(call: Call, producer: Call, word: str) -> tuple[str, str] | None:
    """Why a task or step that another one waits for cannot have failed by then, and the fix."""
    goes_on = inside(producer.data, "continueOn").get("failed" if word == "Failed" else "error")
    reason = f"`{call.name}` runs only when `{producer.name}` has not failed"
    depends = call.depends
    if depends:
        if not call.owner.dag.is_sound:
            return None
        operands = grammar.depends(depends)
        answers = [_answer(each, word) if each.task == producer.name else None for each in operands]
        if grammar.holds(depends, answers) is not False:
            return None
        return reason, f"write `depends: {producer.name}.{_RESULTS[word]}` in place of `{producer.name}`"
    earlier = call.owner.body == "steps" and producer.group < call.group
    if goes_on or not (earlier or producer.name in (call.data.get("dependencies") or ())):
        return None
    field = "failed" if word == "Failed" else "error"
    return reason, f"add `continueOn: {{{field}: true}}` to `{producer.name}`"


def _answer(operand: grammar.Operand, word: str) -> bool | None:
    """Whether a task with this result satisfies a `depends` operand; None for an operand about a loop."""
    return None if operand.result in grammar.LOOP_RESULTS else operand.result == _RESULTS[word]


def _at_end(view: View) -> set[int]:
    """The templates that may run at the end of the run, by their identity: what it names for that, and all below."""
    first = filter(None, (view.last, *callees(view.hooks)))
    return {id(each) for each in inner_first(first, view.run_by)}
