"""Charts of sweeps, as a self-contained HTML page: the metric of each trial, and how parameters relate to it.

plotly, of the extra `flowdsl[sweep]`, draws them.
"""

from __future__ import annotations

import html
import importlib
import math
from typing import TYPE_CHECKING, Any

from flowdsl.cli.display.texts import clip, line
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flowdsl.runtime.local.rounds import Objective, Round, Rounds

Json = dict[str, Any]

MAGNITUDES = 100.0
"""The ratio of the largest to the smallest value from which on an axis is logarithmic."""
LABEL = 24
"""The most characters of a tick label."""
COLORS = "Viridis"
HEIGHT = "480px"
MARGIN: Json = {"margin": {"t": 60}}


class _Trial(NamedTuple):
    round: Round
    metric: float


def page(title: str, sweeps: Iterable[Rounds]) -> str:
    """The page for the sweeps of a run, each with an objective. The same run gives the same bytes.

    Raises `ModuleNotFoundError` without the extra.
    """
    drawn: Callable[..., Any] = importlib.import_module("plotly.graph_objects").Figure
    parts: list[str] = []
    for sweep in sweeps:
        assert sweep.objective is not None
        trials = _trials(sweep, sweep.objective)
        parts.append(f"<h2>{html.escape(_heading(sweep, sweep.objective, trials))}</h2>")
        for figure in _figures(sweep, sweep.objective, trials):
            script = not any("<div" in part for part in parts)
            shape = {"full_html": False, "include_plotlyjs": script, "default_height": HEIGHT}
            parts.append(drawn(figure).to_html(**shape, div_id=f"chart-{len(parts)}"))
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title>'
    style = "<style>body { font-family: sans-serif; margin: 2em }</style>"
    body = "\n".join((f"<h1>{html.escape(title)}</h1>", *parts))
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}{style}</head><body>\n{body}\n</body></html>\n'


def _trials(sweep: Rounds, objective: Objective) -> list[_Trial]:
    """The trials with a usable metric, in the order of their numbers."""
    rounds = sorted(sweep.rounds, key=lambda one: one.number)
    found = ((one, objective.usable(one.values)) for one in rounds)
    return [_Trial(one, metric) for one, metric in found if metric is not None]


def _heading(sweep: Rounds, objective: Objective, trials: Sequence[_Trial]) -> str:
    goal = "largest" if objective.goal == "max" else "smallest"
    total = len(sweep.rounds)
    left = "" if len(trials) == total else f"; {len(trials)} of {total} trials gave one"
    return f"{line(sweep.path)}: the {goal} {line(objective.metric)}{left}"


def _figures(sweep: Rounds, objective: Objective, trials: Sequence[_Trial]) -> list[Json]:
    if not trials:
        return []
    inputs = [name for name in sweep.inputs if all(name in one.round.values for one in trials)]
    return [_history(objective, trials, inputs), *([_parallel(objective, trials, inputs)] if inputs else [])]


def _history(objective: Objective, trials: Sequence[_Trial], inputs: Sequence[str]) -> Json:
    """A chart of the metric of each trial, and the best one so far."""
    numbers = [one.round.number for one in trials]
    best: list[float] = []
    for one in trials:
        best.append(min((one.metric, *best[-1:]), key=objective.rank))
    points = {
        "type": "scatter",
        "mode": "markers",
        "name": "trial",
        "x": numbers,
        "y": [one.metric for one in trials],
        "text": ["<br>".join(_named(one.round, name) for name in inputs) for one in trials],
    }
    steps = {"type": "scatter", "mode": "lines", "name": "best so far", "x": numbers, "y": best}
    title = _marked(objective.metric)
    axes = {"xaxis": {"title": {"text": "trial"}}, "yaxis": {"title": {"text": title}}}
    return {"data": [points, steps | {"line": {"shape": "hv"}}], "layout": axes | MARGIN}


def _parallel(objective: Objective, trials: Sequence[_Trial], inputs: Sequence[str]) -> Json:
    """A chart of parallel coordinates: a line for each trial through its inputs to its metric."""
    metrics = [one.metric for one in trials]
    axes = [_axis(name, [one.round.values[name] for one in trials]) for name in inputs]
    lines = {
        "color": metrics,
        "colorscale": COLORS,
        "reversescale": objective.goal == "min",
        "showscale": True,
    }
    result = {"label": _label(objective.metric), "values": metrics}
    return {"data": [{"type": "parcoords", "line": lines, "dimensions": [*axes, result]}], "layout": MARGIN}


def _axis(name: str, texts: Sequence[str]) -> Json:
    """An axis of numbers, logarithmic if they span orders of magnitude; or of categories, for other values."""
    numbers = [_number(text) for text in texts]
    known = [one for one in numbers if one is not None]
    if len(known) < len(texts):
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        ticks = {"tickvals": [*places.values()], "ticktext": [_label(text) for text in places]}
        return {"label": _label(name), "values": [places[text] for text in texts], **ticks}
    if min(known) <= 0 or max(known) / min(known) < MAGNITUDES:
        return {"label": _label(name), "values": known}
    powers = [math.log10(one) for one in known]
    whole = list(range(math.floor(min(powers)), math.ceil(max(powers)) + 1))
    bounds = {"range": [whole[0], whole[-1]], "tickvals": whole, "ticktext": [f"1e{one}" for one in whole]}
    return {"label": _label(name), "values": powers, **bounds}


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _named(one: Round, name: str) -> str:
    return f"{_marked(name)} = {_marked(one.values[name])}"


def _label(text: str) -> str:
    return clip(line(text), LABEL)


def _marked(text: str) -> str:
    """A label, escaped where plotly interprets some HTML tags."""
    return html.escape(_label(text), quote=False)
