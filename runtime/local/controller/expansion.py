"""Expands a task or step with a loop to one task or step for each item.

Sources: expandTask in workflow/controller/dag.go, expandStep in steps.go, and processItem in operator.go, of Argo 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.runtime.local.controller import items
from flowdsl.runtime.local.controller.arguments import holds
from flowdsl.runtime.local.controller.tags import ArgoError, Missing, replaced
from flowdsl.runtime.parts import part

if TYPE_CHECKING:
    from flowdsl.runtime.local.controller.node import Json
    from flowdsl.runtime.local.controller.scope import Scope
    from flowdsl.runtime.local.controller.tags import Strict


def _items(holder: Json) -> list[items.Item]:
    """The items of a loop whose tags have been replaced. Raises ArgoError."""
    if holder.get("withItems"):
        return items.of_list(holder["withItems"])
    if holder.get("withParam"):
        return items.of_text(holder["withParam"])
    return items.of_sequence(part(holder, "withSequence"))


def expanded(holder: Json, scope: Scope, *, task: bool = False) -> list[Json]:
    """The rounds of a task or step with a loop, with its hooks. Raises ArgoError.

    For a `task`, the items are part of the text whose tags Argo replaces: an item with the text of a tag is one.

    A `when` that is false before the item is filled in, such as `'{{item}}' == 'a'`, may be true with it: each round
    evaluates its own. So all known tags are replaced, and the others stay.
    """
    try:
        proceed = holds(holder.get("when") or "")
    except ArgoError:
        proceed = True  # it refers to the item
    try:
        found = _items(holder)
    except ArgoError:
        if proceed:
            raise
        found = []
    body = {key: value for key, value in holder.items() if key not in _LOOP}
    seen = scope if proceed else scope.given()
    strict: Strict = "everything" if proceed else "nothing"
    loop = {key: holder[key] for key in _LOOP if task and key in holder}
    made: list[Json] = []
    for item in found:
        layered = seen.with_layer(item.variables)
        try:
            one: Json = replaced(body, layered, strict)
            if not made:  # checked for one item on behalf of all
                replaced(loop, layered, strict)
        except Missing as error:
            raise ArgoError(str(error)) from None  # no later replacement adds a key to an item
        one = {**one, "name": f"{holder['name']}({item.label})"}
        if holder.get("template"):
            one["template"] = holder["template"]
        made.append(one)
    return made


_LOOP = frozenset(("withItems", "withParam", "withSequence"))
