"""The script that picks the best of very many trials."""

from __future__ import annotations

from flowdsl.compiler.lowering.plans import ROW
from flowdsl.compiler.ports import IN, OUT

PYTHON = "python:3.12-slim"
"""The image of flowdsl's own scripts where none is specified."""

_SOURCE = '''\
import json, math, os, sys

METRIC, BEST, MINIMUM = {metric!r}, {goal}, {minimum}


def metric(row):
    """The metric of a trial; NaN where there is none."""
    name, *fields = METRIC.split(".")
    try:
        value = row.get(name, "nan")
        for field in fields:
            value = (json.loads(value) if isinstance(value, str) else value)[field]
        return float(value)
    except (KeyError, TypeError, ValueError):
        return math.nan


def number(row):
    return [int(part) for part in row["flowdsl-index"].split("/")[1:]]


with open("{rows}", encoding="utf-8") as file:
    usable = [row for row in json.load(file) if math.isfinite(metric(row))]
if len(usable) < MINIMUM:
    sys.exit(f"{{len(usable)}} trials of {task} returned a usable {{METRIC}}, {{MINIMUM}} are needed")
best = BEST(sorted(usable, key=number), key=metric)
print(f"the best {{METRIC}} of {{len(usable)}} trials is {{metric(best)}}")
os.makedirs("{out}", exist_ok=True)
with open("{out}/{row}", "w", encoding="utf-8") as file:
    json.dump(best, file)
'''


def pick(task: str, metric: str, goal: str, minimum: int) -> str:
    """The source of the script: picks the usable row with the best metric, the first of equal ones."""
    return _SOURCE.format(
        task=task,
        metric=metric,
        goal=goal,
        minimum=minimum,
        rows=f"{IN}/rows",
        out=OUT,
        row=ROW,
    )
