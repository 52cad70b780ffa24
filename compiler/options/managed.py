"""What is done with an object of the cluster, and what is waited for.

Source of the rules: Argo Workflows, workflow/executor/resource.go and cmd/argoexec/commands/resource.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from flowdsl.compiler.findings import kinds
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.kinds import MAKING
from flowdsl.compiler.options.reading import Wrong, flag, said, text_option, words
from flowdsl.grammar.condition import conditions, true_of_new
from flowdsl.grammar.error import GrammarError
from flowdsl.kinds import Action
from flowdsl.options import Merge

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.ir import Settings
    from flowdsl.compiler.options.reading import Reader

_ACTIONS: tuple[str, ...] = get_args(Action)

#: The actions for which an option has no effect, and why.
_POINTLESS = {
    "success": (("delete",), "what is deleted cannot be waited for"),
    "failure": (("delete",), "what is deleted cannot be waited for"),
    "merge": (("create", "apply", "replace", "delete", "get"), "only a patch is merged"),
    "owner": (("patch", "delete", "get"), "the object is not made by this step"),
}


def doubts(made: Settings, given: Mapping[str, Any]) -> Iterator[tuple[str, Wrong]]:
    """Options without effect for the action, and conditions that do not wait."""
    managed = made.managed
    for option, (actions, reason) in _POINTLESS.items():
        if given.get(option) is not None and managed.action in actions:
            yield option, Wrong(kinds.OptionOfAction(option, managed.action, reason), "name")
    if managed.action not in MAKING:
        return
    if managed.failure and not given.get("success"):
        alone = kinds.FailureAlone("failure", "success", 'success="status.succeeded == 1"')
        yield "failure", Wrong(alone, "name")
    for option, text in (("success", managed.success), ("failure", managed.failure)):
        ends = "succeeds" if option == "success" else "fails"
        for one in true_of_new(conditions(text), every=option == "success") if text else ():
            written = text[one.start : one.end] if text else ""
            yield option, Wrong(kinds.HoldsOfNothing(written, ends, one.key))
    if managed.action == "create" and made.control.retries is not None and made.control.retries.limit:
        yield "retries", Wrong(kinds.RetriedCreate())


def _action(name: str, written: object) -> str:
    if not isinstance(written, str) or written not in _ACTIONS:
        have = "a function" if callable(written) else said(written)
        raise Wrong(kinds.UnknownAction(have, _ACTIONS))
    return written


def _condition(name: str, written: object) -> str:
    text = text_option(name, written)
    try:
        conditions(text)
    except GrammarError as error:
        raise Wrong(kinds.BadCondition(text, str(error))) from None
    return text


def _merge(name: str, written: object) -> str:
    if not isinstance(written, str) or written not in get_args(Merge):
        raise Wrong(OptionType(name, '"strategic", "merge" or "json"', said(written)))
    return written


READERS: dict[str, Reader] = {
    "action": _action,
    "success": _condition,
    "failure": _condition,
    "merge": _merge,
    "flags": words,
    "owner": flag,
}
