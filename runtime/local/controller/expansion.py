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
    """The items of a loop whose tags are replaced. Raises ArgoError."""
    if holder.get("withItems"):
        return items.of_list(holder["withItems"])
    if holder.get("withParam"):
        return items.of_text(holder["withParam"])
    return items.of_sequence(part(holder, "withSequence"))


def expanded(holder: Json, scope: Scope, *, task: bool = False) -> list[Json]:
    """A task or step that has a loop, for each of its items, with its hooks. Raises ArgoError.

    Of a `task`, the items are in the text whose tags Argo replaces: an item that is the text of a tag is one.

    A `when` that is false before the item is in it, as `'{{item}}' == 'a'` is, may be true with it: each round is
    judged by its own. So everything that is there is replaced, and the rest stays.
    """
    try:
        proceed = holds(holder.get("when") or "")
    except ArgoError:
        proceed = True  # it has an item in it
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
            if not made:  # what holds for one item holds for all
                replaced(loop, layered, strict)
        except Missing as error:
            raise ArgoError(str(error)) from None  # nothing that comes later gives an item another key
        one = {**one, "name": f"{holder['name']}({item.label})"}
        if holder.get("template"):
            one["template"] = holder["template"]
        made.append(one)
    return made


_LOOP = frozenset(("withItems", "withParam", "withSequence"))
