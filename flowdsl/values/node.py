"""Base of the small immutable nodes of which types, expressions and forms of values consist.

They are plain classes on purpose. To a type checker a named tuple is also a tuple, so that it compares nested nodes
without end; a frozen dataclass costs half a millisecond of import.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self, dataclass_transform


@dataclass_transform(frozen_default=True)
class Node:
    """A node whose fields are its annotations; equal to another of the same class with the same content.

    Immutable only for type checkers.
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        fields = tuple(cls.__annotations__)
        setattr(cls, "__match_args__", fields)  # noqa: B010 -- a plain assignment is refused by mypy
        # Generated once, as for a named tuple: nodes are created by the thousand.
        defaults = {f"_{name}": getattr(cls, name) for name in fields if name in cls.__dict__}
        header = ", ".join(f"{name}=_{name}" if f"_{name}" in defaults else name for name in fields)
        body = "".join(f"\n self.{name} = {name}" for name in fields) or " pass"
        made: dict[str, Any] = {}
        content = "".join(f"self.{name}, " for name in fields)
        exec(f"def __init__(self, {header}):{body}\ndef _content(self):\n return ({content})", defaults, made)
        cls.__init__ = made["__init__"]  # type: ignore[method-assign]
        cls._content = made["_content"]  # type: ignore[method-assign]

    def _content(self) -> tuple[Any, ...]:
        return ()

    def changed(self, **changes: Any) -> Self:
        """The same node with other values in some fields."""
        return type(self)(**{**dict(zip(self.__match_args__, self._content(), strict=True)), **changes})

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Node) and type(self) is type(other) and self._content() == other._content()

    def __hash__(self) -> int:
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = self.__dict__["_hash"] = hash((type(self).__name__, self._content()))
        return known

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._content()))})"
