"""Protocols by which the run, executions, and templates of type steps and dag see each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.controller.node import Json, Node
    from flowdsl.runtime.local.controller.parallelism import Places
    from flowdsl.runtime.local.controller.templates import Base, Origin

    Position = tuple[tuple[int, bool, int], ...]
    """A position in the order of Argo's visits: from the entrypoint down, the ranks of ancestors and its own."""


class Boundary(Protocol):
    """A template of type steps or dag in execution, as its children see it."""

    execution: Leaf
    node: Node
    template: Json
    inside: dict[str, Boundary]
    over: bool
    on_exit: bool
    places: Places
    daemons: list[Node]
    lost: str

    def abandon(self) -> None:
        """Start nothing more, here and in nested frames."""

    def start(self) -> None:
        """Start the children without dependencies."""

    def blocked(self) -> bool:
        """Whether no child may start now."""
        ...

    def full(self) -> bool:
        """Whether Argo skips it in this pass, because pods had all of its places when that began."""
        ...

    def gives_up(self) -> bool:
        """Whether `failFast` of the template prevents any further start."""
        ...

    def turns_away(self, again: Callable[[], None], missed: Callable[[], None]) -> bool:
        """Whether the exit hook of a child does not wait for a missing place; it may be requested again."""
        ...

    def turns_down(self, call: Call) -> bool:
        """Whether `failFast` of the template prevents the requested start, which may end the frame."""
        ...

    def fail_fast(self, *, begins: bool = False) -> bool:
        """End if `failFast` of the template requires it, also as a child `begins`; returns whether it has ended."""
        ...

    def comes_to(self, node: Node) -> bool:
        """Whether it is unfinished, and visits a node in it that has ended."""
        ...

    def frozen(self) -> bool:
        """Whether, because of `failFast`, only its running pods continue."""
        ...

    def finish(self, phase: str, message: str | None = None) -> None:
        """End with a phase."""

    def stuck(self) -> list[str]:
        """The children that wait for something that never happens."""
        ...

    def shut_down(self) -> None:
        """End because the run was stopped."""


def _nothing(*_: object) -> None:
    """Default of callbacks that are not needed."""


class Call(NamedTuple):
    """A request to execute the template that `holder` names: a task, step, hook or workflow.

    `kind` is `tasks` or `steps`, and empty for others. `failed` gets the node, and an error of Argo, not of the step.
    """

    name: str
    holder: Json
    arguments: Json
    base: Base
    frame: Boundary | None
    on_exit: bool = False
    hooked: bool = False
    kind: str = ""
    rank: int = 0
    created: Callable[[Node], None] = _nothing
    failed: Callable[[Node, str], None] = _nothing
    node: Node | None = None
    """The existing node, if there is one."""
    now: Callable[[], Json] | None = None
    """Resolves the task or step again, which Argo does in each pass while it waits for a place. Raises ArgoError."""
    kept: Callable[[Callable[[], None]], bool] | None = None
    """Postpones the action that starts it until Argo visits it, or returns False."""
    turn: Position = ()


class Leaf(Protocol):
    """The execution of a template, as seen by its pod."""

    call: Call
    template: Json
    origin: Origin
    retry: Json | None
    node: Node | None

    def body_ended(self, node: Node, error: str | None = None) -> None:
        """Handle the end of the body of the template, or of one attempt."""

    def waited_too_long(self) -> None:
        """Fail while the node is pending."""


class Retries(Protocol):
    """The execution of a template with retries."""

    def ended(self, attempt: Node, error: str | None) -> None:
        """Determine whether there is another attempt."""

    def overtaken(self, hook: Node) -> None:
        """Go on in the node of a hook, which Argo takes for an attempt."""

    def give_up(self, message: str) -> None:
        """Fail without another attempt."""
