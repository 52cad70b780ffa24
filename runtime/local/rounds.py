"""The rounds of a loop as a table: parameters that differ, results, and the best round."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import from_json
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.space import metric
from flowdsl.runtime.names import is_hidden
from flowdsl.runtime.parts import several
from flowdsl.runtime.phases import SUCCEEDED
from flowdsl.values import types as t

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from flowdsl.runtime.status.tree import Entry, RunNode
    from flowdsl.values.signature import Signature

INDEX = "flowdsl-index"
"""The field of every row of a loop with the numbers of its items."""

Json = dict[str, Any]


class Objective(NamedTuple):
    """The objective of a sweep: an output, and whether it is maximized (`max`) or minimized (`min`)."""

    metric: str
    goal: str

    @property
    def output(self) -> str:
        """The output that is the metric, or contains it as a field."""
        return self.metric.partition(".")[0]

    def usable(self, row: Mapping[str, str]) -> float | None:
        """The metric of a round as a number; NaN and infinities do not count."""
        value: Any = row.get(self.output, "nan")
        try:
            for field in self.metric.split(".")[1:]:
                value = (json.loads(value) if isinstance(value, str) else value)[field]
            number = float(value)
        except (KeyError, TypeError, ValueError):
            return None
        return number if isfinite(number) else None

    def rank(self, number: float) -> float:
        """A sort key: smaller is better."""
        return -number if self.goal == "max" else number


class Round(NamedTuple):
    """One round: its number and node, the existing cells of its row, and remarks about it.

    `step` is the name of the step within it that failed, and `failed` the node of that, or of the round.
    """

    number: int
    node: str
    values: dict[str, str]
    phase: str
    message: str
    best: bool = False
    step: str = ""
    failed: str = ""


class Texts(NamedTuple):
    """The inputs and outputs of a template that are plain text; all others are JSON.

    A column of a loop's output is named after the output: `rows.tag`. `order` are all outputs, as they were
    declared: a manifest lists values and files separately.
    """

    inputs: Collection[str] = ()
    outputs: Collection[str] = ()
    order: Sequence[str] = ()


class Rounds(NamedTuple):
    """The rounds of a loop; `inputs` and `outputs` are the names of the columns; without `texts` no type is known.

    An input with the name of an output, but other values, is called `NAME (input)`.
    """

    path: str
    objective: Objective | None
    inputs: list[str]
    outputs: list[str]
    rounds: list[Round]
    texts: Texts | None = None


def _place(row: dict[str, Any]) -> list[int]:
    return [int(number) for number in row[INDEX].split("/")[1:]]


def value_of(text: str, name: str, texts: Collection[str] | None) -> Any:
    """The JSON value of a text that was passed on; of a loop, a list of its items' outputs, or of one by name.

    `texts` are the names of the plain texts; without them no type is known, and a text stays a text.
    """
    rows = _rows(text)
    if rows is None:
        return text if texts is None or name in texts else _json(text)
    found: list[Any] = []
    for row in rows:
        columns = [one for one in row if not is_hidden(one)]
        values = {one: value_of(str(row[one]), f"{name}.{one}", texts) for one in columns}
        found.append(values["return"] if columns == ["return"] else values)
    return found


def _rows(text: str) -> list[dict[str, Any]] | None:
    """The rows of a loop's output, in order; None for any other text."""
    if not text.startswith("[") or INDEX not in text:
        return None
    try:
        rows: list[dict[str, Any]] = json.loads(text)
        rows.sort(key=_place)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return rows


def _json(text: str) -> Any:
    """Parse JSON; what is too deep, or has a number that JSON does not have, stays a text."""
    try:
        return from_json(text)
    except (ValueError, RecursionError):
        return text


def objective_of(text: str) -> Objective | None:
    """Parse `accuracy:max` or `loss:min`, or `max` for the only result; None for another text."""
    found = metric(text)
    return None if found is None else Objective(found[0] or "return", found[1])


def objectives_of(settings: Mapping[str, Any]) -> dict[str, Objective]:
    """The objectives of sweeps, by template, from the settings of a run."""
    found: dict[str, list[str]] = settings.get("objectives") or {}
    return {template: Objective(*one) for template, one in found.items()}


def texts(signature: Signature) -> Texts:
    """The plain texts among the inputs and outputs of a step or pipeline."""
    inputs = [one.name for one in signature.parameters if t.is_text(one.type)]
    return Texts(inputs, [*_texts(signature.returns)], [out.name for out in t.outputs(signature.returns)])


def _texts(returns: t.Type, of: str = "") -> Iterator[str]:
    for out in t.outputs(returns):
        if t.is_text(out.type):
            yield of + out.name
        elif isinstance(out.type, t.Sequence):  # the output of a loop has the outputs of its items
            yield from _texts(out.type.item, f"{of}{out.name}.")


def texts_of(settings: Mapping[str, Any]) -> dict[str, Texts]:
    """The plain texts, by template, from the settings of a run."""
    found: dict[str, list[list[str]]] = settings.get("texts") or {}
    return {template: Texts(*one) for template, one in found.items()}


def tables(
    entries: Iterable[Entry],
    run: str,
    settings: Mapping[str, Any],
    wanted: Objective | None = None,
) -> list[Rounds]:
    """The tables of all loops that have something to show, outermost first.

    `settings` are those of a local run. `wanted` is the objective for each loop whose rounds have its output, in
    place of the loop's own.
    """
    found: list[Rounds] = []
    objectives, known = objectives_of(settings), texts_of(settings)
    for top in entries:
        for one in top.walk():
            made = _table(one, run, objectives, known, wanted)
            if made is not None:
                found.append(made)
    return found


def _table(
    loop: Entry,
    run: str,
    objectives: Mapping[str, Objective],
    texts: Mapping[str, Texts],
    wanted: Objective | None,
) -> Rounds | None:
    objective = _objective(loop.node, objectives)
    nodes = [(one, one.node) for one in loop.rounds if one.node is not None]
    given = {one.name: _parameters(node.inputs) for one, node in nodes}
    made = {one.name: _outputs(node, run) for one, node in nodes}
    inputs, outputs = _differing(given, run), _names(made.values())
    if wanted is not None and wanted.output in outputs:
        objective = wanted
    called = {name: f"{name} (input)" for name in inputs if _changed(name, given, made)}
    outputs = [name for name in outputs if name in called or name not in inputs]
    if not outputs and not any(one.failed for one in loop.rounds):
        return None
    best = _best(made, objective)
    rounds: list[Round] = []
    for one, node in nodes:
        row, gave = given[one.name], made[one.name]
        cells = {called.get(name, name): row[name] for name in inputs if name in row}
        cells |= {name: gave[name] for name in outputs if name in gave}
        rounds.append(_round(one, node, cells, one.name == best))
    if objective is not None:
        rounds.sort(key=lambda one: _order(one, objective))
    known = next((texts[node.template] for _, node in nodes if node.template in texts), None)
    if known is not None:
        known = known._replace(inputs=[called.get(name, name) for name in known.inputs])
    inputs = [called.get(name, name) for name in inputs]
    return Rounds(loop.path, objective, inputs, outputs, rounds, known)


def _objective(node: RunNode | None, objectives: Mapping[str, Objective]) -> Objective | None:
    """What a loop searches for: its own template says it, or the one around it."""
    around = () if node is None else (node, node.boundary)
    found = (objectives.get(one.template) for one in around if one is not None)
    return next((one for one in found if one is not None), None)


def _round(entry: Entry, node: RunNode, cells: dict[str, str], best: bool) -> Round:
    """One item of a loop, with the step that failed in it."""
    culprit = entry.culprit or entry
    step = culprit.path.removeprefix(entry.path).lstrip(".")
    message = ": ".join(part for part in (step, culprit.message) if part)
    failed = "" if culprit.node is None or not culprit.failed else culprit.node.id
    return Round(int(entry.name[1:-1]), node.id, cells, entry.phase, message, best, step, failed)


def _changed(name: str, given: Mapping[str, dict[str, str]], made: Mapping[str, dict[str, str]]) -> bool:
    """Whether a round outputs another value than its input of the same name; equal ones share a column."""
    return any(not _same(row[name], given[number].get(name)) for number, row in made.items() if name in row)


def _same(one: str, other: str | None) -> bool:
    """Whether two texts are equal, or the same list or object: Argo sorts the keys of what it takes out of a list."""
    if one == other or other is None:
        return one == other
    value = _json(one)
    return isinstance(value, (dict, list)) and bool(value == _json(other))


def differing(rounds: Iterable[Entry], run: str) -> dict[str, dict[str, str]]:
    """The inputs in which the rounds of a loop differ, by the name of the round; of a single one, all."""
    given = {one.name: _parameters(one.node.inputs) for one in rounds if one.node is not None}
    names = _differing(given, run)
    return {number: {name: row[name] for name in names if name in row} for number, row in given.items()}


def _differing(given: Mapping[str, dict[str, str]], run: str) -> list[str]:
    """The inputs in which rounds differ; of a single round, all, its item being one of them."""
    return [
        name
        for name in _names(given.values())
        if (len(given) == 1 or len({row.get(name) for row in given.values()}) > 1)
        and not all(_is_key(row.get(name), run) for row in given.values())
    ]


def _order(one: Round, objective: Objective) -> tuple[bool, float, int]:
    number = objective.usable(one.values) if one.phase == SUCCEEDED else None
    return number is None, 0.0 if number is None else objective.rank(number), one.number


def _best(made: dict[str, dict[str, str]], objective: Objective | None) -> str | None:
    """The round that a sweep picks: the first of equal ones."""
    if objective is None:
        return None
    usable = [
        (objective.rank(number), name)
        for name, row in made.items()
        if (number := objective.usable(row)) is not None
    ]
    return min(usable, key=lambda one: one[0])[1] if usable else None


def _names(rows: Iterable[dict[str, str]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _parameters(of: Json | None) -> dict[str, str]:
    files = {one["name"] for one in several(of, "artifacts")}
    return {
        one["name"]: str(one["value"])
        for one in several(of, "parameters")
        if not is_hidden(one["name"]) and one["name"] not in files and one.get("value") is not None
    }


def _outputs(node: RunNode, run: str) -> dict[str, str]:
    """The outputs of a round that are values; of a failed round, none."""
    if node.phase != SUCCEEDED:
        return {}
    found = _parameters(node.result().outputs)
    return {name: text for name, text in found.items() if not _is_key(text, run)}


def _is_key(text: str | None, run: str) -> bool:
    """Whether a text is the key of a file of the run, or several of them."""
    if text is None:
        return False
    if text.startswith(f"{run}/"):
        return True
    if not text.startswith(("[", "{")):
        return False
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    parts: list[Any] = [*value.values()] if isinstance(value, dict) else value
    return bool(parts) and all(isinstance(one, str) and one.startswith(f"{run}/") for one in parts)
