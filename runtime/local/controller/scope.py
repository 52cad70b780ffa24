"""The variables that can be used at one place: by dotted name for tags, and as a tree for expressions.

Source: workflow/controller/scope.go and util/expand of Argo 4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from flowdsl.compiler.tree import is_mapping

Value = Any
"""A text; None for a missing output of a skipped task; a dict for an artifact."""

Record = dict[str, Value]
"""The outputs of a task, by the part of the variable name that follows the name of the task."""


def _given(record: Mapping[str, Value]) -> Record:
    return {name: value for name, value in record.items() if value is not None}


class Variables(dict[str, Value]):
    """Variables by dotted name, and their tree, which is built when an expression needs it."""

    _tree: dict[str, Value] | None = None

    def __setitem__(self, name: str, value: Value) -> None:
        super().__setitem__(name, value)
        self._tree = None

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._tree = None

    @property
    def tree(self) -> dict[str, Value]:
        """The variables as nested objects."""
        if self._tree is None:
            self._tree = nested(self)
        return self._tree


class Globals(Variables):
    """The variables of a workflow, with a record of their changes."""

    def __init__(self, found: Mapping[str, Value] | None = None) -> None:
        super().__init__(found or {})
        self.changes = 0
        """How many times the value of a variable changed."""
        self.changed: dict[str, None] = {}
        """The variables that were changed or deleted since this was last cleared."""

    def __setitem__(self, name: str, value: Value) -> None:
        if name not in self or self[name] != value:
            super().__setitem__(name, value)
            self._note(name)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._note(name)

    def _note(self, name: str) -> None:
        self.changes += 1
        self.changed[name] = None


def nested(variables: Mapping[str, Value]) -> dict[str, Value]:
    """Variables as nested objects; of `a` and `a.b` the latter stays."""
    found: dict[str, Value] = {}
    for name in sorted(variables, reverse=True):
        *path, last = name.split(".")
        at = found
        for part in path:
            at = at.setdefault(part, {})
        at.setdefault(last, variables[name])
    return found


class Results(dict[str, Value]):
    """`tasks` or `steps` of an expression: the outputs of each task, built on first use.

    It is a dict, because expressions know no other objects.
    """

    def __init__(self, names: Callable[[], Iterator[str]], record: Callable[[str], Record | None]) -> None:
        super().__init__()
        self._names = names
        self._record = record

    def given(self) -> Results:
        """The same without the outputs of skipped tasks."""

        def record(name: str) -> Record | None:
            found = self._record(name)
            return None if found is None else _given(found)

        return Results(self._names, record)

    def with_own(self, own: Mapping[str, Record]) -> Results:
        """The same with variables of some tasks, without `tasks.` and the name, that count before the others."""

        def names() -> Iterator[str]:
            return iter(dict.fromkeys((*own, *self._names())))

        def record(task: str) -> Record | None:
            if task not in own:
                return self._record(task)
            return {**(self._record(task) or {}), **own[task]}

        return Results(names, record)

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
        """The outputs of a task, or the default."""
        try:
            return self[task]
        except KeyError:
            return default

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in self._names() if name in self])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def keys(self) -> Any:
        """The tasks with outputs."""
        return list(self)

    def items(self) -> Any:
        """The tasks with their outputs."""
        return [(name, self[name]) for name in self]

    def values(self) -> Any:
        """The outputs of the tasks."""
        return [self[name] for name in self]


class Scope:
    """The variables of a replacement: layers, the first of which takes precedence, and the outputs of tasks."""

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
        """The variables of an expression."""
        if self._tree is None:
            found: dict[str, Value] = {}
            for layer in reversed(self._layers):
                for root, below in layer.tree.items():
                    found[root] = _joined(found[root], below) if root in found else below
            if self._results is not None:
                found.setdefault(self._prefix[:-1], self._results)
            self._tree = found
        return self._tree

    def given(self) -> Scope:
        """The same without the outputs of skipped tasks."""
        results = None if self._results is None else self._results.given()
        return Scope(
            *(Variables(_given(one)) for one in self._layers), prefix=self._prefix[:-1], results=results
        )

    def with_layer(self, layer: Variables) -> Scope:
        """The same with a further layer that takes precedence."""
        made = Scope(layer, *self._layers)
        made._prefix, made._results = self._prefix, self._results
        if self._results is not None:
            own: dict[str, Record] = {}
            for name in [one for one in layer if one.startswith(self._prefix)]:
                task, _, rest = name.removeprefix(self._prefix).partition(".")
                own.setdefault(task, {})[rest] = layer[name]
            if own:
                rest_of_layer = {
                    name: one for name, one in layer.items() if not name.startswith(self._prefix)
                }
                made._layers = (Variables(rest_of_layer), *self._layers)
                made._results = self._results.with_own(own)
        return made


def _joined(under: Value, over: Value) -> Value:
    lower = under if is_mapping(under) and not isinstance(under, Results) else {}
    if not lower or not is_mapping(over):
        return over
    merged = dict(lower)
    for key, value in over.items():
        merged[key] = _joined(merged[key], value) if key in merged else value
    return merged
