"""The variables of a place: by dotted name for tags, and as a tree for expressions.

Source: workflow/controller/scope.go and util/expand of Argo 4.1.
"""

# Values of a manifest, and of expressions, may be anything.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Value = Any
"""A text; None of an output that a skipped task did not give; a dict of an artifact."""

Record = dict[str, Value]
"""What a task handed on, by the part of its variables' names that follows the name of the task."""


class Variables(dict[str, Value]):
    """Variables by dotted name, with their tree, which is made when an expression asks for it."""

    def __init__(self, found: Mapping[str, Value] | None = None) -> None:
        super().__init__(found or {})
        self._tree: dict[str, Value] | None = None

    def __setitem__(self, name: str, value: Value) -> None:
        super().__setitem__(name, value)
        self._tree = None

    @property
    def tree(self) -> dict[str, Value]:
        """The variables as objects in objects."""
        if self._tree is None:
            self._tree = nested(self)
        return self._tree


def nested(variables: Mapping[str, Value]) -> dict[str, Value]:
    """Variables as objects in objects; of `a` and `a.b` the latter stays."""
    found: dict[str, Value] = {}
    for name in sorted(variables, reverse=True):
        *path, last = name.split(".")
        at = found
        for part in path:
            at = at.setdefault(part, {})
        at.setdefault(last, variables[name])
    return found


class Results(dict[str, Value]):
    """`tasks` or `steps` of an expression: what each task handed on; made for a task when it is asked for.

    A dict, because expressions know no other objects.
    """

    def __init__(self, names: Callable[[], Iterator[str]], record: Callable[[str], Record | None]) -> None:
        super().__init__()
        self._names = names
        self._record = record

    def find(self, name: str) -> tuple[bool, Value]:
        """Whether there is a variable of this name (without `tasks.`), and its value."""
        task, _, rest = name.partition(".")
        record = self._record(task)
        return (False, None) if record is None or rest not in record else (True, record[rest])

    def __contains__(self, task: object) -> bool:
        return isinstance(task, str) and self._record(task) is not None

    def __getitem__(self, task: str) -> Value:
        if not super().__contains__(task):
            record = self._record(task)
            if record is None:
                raise KeyError(task)
            super().__setitem__(task, nested(record))
        return super().__getitem__(task)

    def get(self, task: str, default: Value = None) -> Value:
        """What a task handed on, or the default."""
        try:
            return self[task]
        except KeyError:
            return default

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in self._names() if name in self])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def keys(self) -> Any:
        """The tasks that handed something on."""
        return list(self)

    def items(self) -> Any:
        """The tasks with what they handed on."""
        return [(name, self[name]) for name in self]

    def values(self) -> Any:
        """What the tasks handed on."""
        return [self[name] for name in self]


class Scope:
    """The variables that a replacement sees: layers, the first of which counts, and what tasks handed on."""

    def __init__(self, *layers: Variables, prefix: str = "", results: Results | None = None) -> None:
        self._layers = layers
        self._prefix = f"{prefix}."
        self._results = results
        self._tree: dict[str, Value] | None = None

    def find(self, name: str) -> tuple[bool, Value]:
        """Whether there is a variable of this name, and its value."""
        for layer in self._layers:
            if name in layer:
                return True, layer[name]
        if self._results is not None and name.startswith(self._prefix):
            return self._results.find(name[len(self._prefix) :])
        return False, None

    @property
    def tree(self) -> dict[str, Value]:
        """What an expression sees."""
        if self._tree is None:
            found: dict[str, Value] = {}
            for layer in reversed(self._layers):
                for root, below in layer.tree.items():
                    found[root] = _joined(found[root], below) if root in found else below
            if self._results is not None:
                found.setdefault(self._prefix[:-1], self._results)
            self._tree = found
        return self._tree

    def with_layer(self, layer: Variables) -> Scope:
        """The same with a layer that counts before the others."""
        made = Scope(layer, *self._layers)
        made._prefix, made._results = self._prefix, self._results
        return made


def _joined(under: Value, over: Value) -> Value:
    lower: dict[str, Value] = under if isinstance(under, dict) and not isinstance(under, Results) else {}
    if not lower or not isinstance(over, dict):
        return over
    upper: dict[str, Value] = over
    merged = dict(lower)
    for key, value in upper.items():
        merged[key] = _joined(merged[key], value) if key in merged else value
    return merged
