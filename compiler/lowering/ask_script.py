"""The script that chooses the points of a round of a search that learns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.ports import IN, OUT
from flowdsl.compiler.steps.script import quote
from flowdsl.compiler.steps.script_prepare import PACKAGES, PIP
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flowdsl.points.learnt import Learnt
    from flowdsl.space import Objective


class Sampler(NamedTuple):
    """An implementation of a search: the call that creates it from the `library` and a `seed`, and its needs.

    `needed` are module names, each with its name in a message, `packages` what pip installs where the search
    names no image. `tries`: after so many duplicates for each wanted point, the others are random.
    """

    made: str
    needed: Mapping[str, str]
    packages: tuple[str, ...]
    tries: int


SAMPLERS = {
    "tpe": Sampler(
        "library.samplers.TPESampler(seed=seed, n_startup_trials=0, constant_liar=True)",
        {"optuna": "Optuna"},
        ("optuna==5.0.0",),
        100,
    ),
    "gp": Sampler(
        "library.samplers.GPSampler(seed=seed, n_startup_trials=1, warn_independent_sampling=False)",
        {"optuna": "Optuna", "scipy": "SciPy", "torch": "PyTorch"},
        (),
        3,
    ),
}
"""By the kind of search."""
POINTS = "flowdsl-points"
"""The input of a round: its points."""


class Texts(NamedTuple):
    """The points of a search as they are passed between tasks.

    `number` is the name of a point's number, `first` are the initial points, with their numbers. `choices` are
    the texts of parameters with few values, and `defaults` those of parameters that are not always searched; `integers`
    are the integer parameters. `whole`: each point is passed as one text.
    """

    number: str
    first: tuple[Mapping[str, str], ...]
    choices: Mapping[str, Sequence[str]]
    defaults: Mapping[str, str]
    integers: frozenset[str]
    whole: bool


_IMPORTS = """\
import importlib.util
import json
import math
import os
import subprocess
import sys
from decimal import Decimal
"""

_SOURCE = '''

def optuna():
    """The library; what the image has not of it and what it needs is installed."""
    missing = [text for name, text in NEEDED.items() if importlib.util.find_spec(name) is None]
    if missing:
        if not PACKAGES:
            here = f"{sys.executable} has no {' and no '.join(missing)}"
            sys.exit(f"{here}: install that in the image of the search, or for this Python where images are not used")
        folder = "@folder"
        pip = @pip
        if subprocess.call([*pip, "--target", folder, *PACKAGES], env=dict(os.environ, PIP_USER="0")) != 0:
            sys.exit(f"the search could not install {' and '.join(missing)}, for the reason above")
        sys.path.insert(0, folder)
    import optuna
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def read(name):
    with open(f"@in/{name}", encoding="utf-8") as file:
        return json.load(file)


def write(name, text):
    os.makedirs("@out", exist_ok=True)
    with open(f"@out/{name}", "w", encoding="utf-8", newline="") as file:
        file.write(text)


def coded(text):
    """A JSON text in which Argo finds nothing to replace."""
    return json.dumps(text).replace("{", "\\\\u007b").replace("$", "\\\\u0024")


def packed(row):
    return "{" + ", ".join(f"{coded(name)}: {coded(value)}" for name, value in row.items()) + "}"


def usable(text):
    try:
        return math.isfinite(float(text))
    except (TypeError, ValueError):
        return False


def searched(name, at):
    return name not in WHERE or WHERE[name](at)


def number(name, text):
    """What conditions compare: a number, or the position of a choice."""
    kind, *bounds = SPACE[name]
    return bounds[0].index(text) if kind == "choice" else float(text)


def drawn(name, text):
    """What Optuna drew, from the text of a value."""
    kind, *bounds = SPACE[name]
    if kind == "step":
        return round(Decimal(text) / Decimal(repr(bounds[2])))
    return int(float(text)) if kind == "int" else number(name, text)


def text(name, value):
    """The text of what Optuna draws; a float has six digits."""
    kind, *bounds = SPACE[name]
    if kind == "choice":
        return bounds[0][value]
    if kind == "step":
        value = float(value * Decimal(repr(bounds[2])))
    elif kind != "int":
        value = min(max(float(f"{value:.6g}"), bounds[0]), bounds[1])
    return repr(int(value) if name in INTEGERS else float(value))


def distribution(library, name):
    kind, *bounds = SPACE[name]
    if kind == "choice":
        return library.distributions.CategoricalDistribution(range(len(bounds[0])))
    if kind in ("int", "step"):
        return library.distributions.IntDistribution(*bounds[:2])
    return library.distributions.FloatDistribution(*bounds, log=kind == "log")


def suggestion(trial, name):
    kind, *bounds = SPACE[name]
    if kind == "choice":
        return trial.suggest_categorical(name, range(len(bounds[0])))
    if kind in ("int", "step"):
        return trial.suggest_int(name, *bounds[:2])
    return trial.suggest_float(name, *bounds, log=kind == "log")


def measured(row):
    """The text of the metric in what a trial returned: an output, or a field of one."""
    name, *fields = METRIC.split(".")
    if not fields or name not in row:
        return row.get(name)
    value = json.loads(row[name])
    for field in fields:
        value = value[field]
    return json.dumps(value)


def known(library, row, metric):
    """A trial that has ended, as Optuna has it."""
    at, params = {}, {}
    for name in SPACE:
        at[name] = number(name, row[name]) if searched(name, at) else None
        if at[name] is not None:
            params[name] = drawn(name, row[name])
    distributions = {name: distribution(library, name) for name in params}
    if not usable(metric):
        state = library.trial.TrialState.FAIL
        return library.trial.create_trial(state=state, params=params, distributions=distributions)
    return library.trial.create_trial(value=float(metric), params=params, distributions=distributions)


def suggested(trial):
    """A new point."""
    at, row = {}, {}
    for name in SPACE:
        row[name], at[name] = DEFAULTS.get(name), None
        if searched(name, at):
            row[name] = text(name, suggestion(trial, name))
            at[name] = number(name, row[name])
    return {name: row[name] for name in FIRST[0] if name != NUMBER}


def chosen(told, count):
    """So many new points, by what those before them gave; less where nearly all have been tried."""
    library = optuna()
    seed = SEED + len(told)
    sampler = @sampler
    study = library.create_study(direction=GOAL, sampler=sampler)
    study.add_trials([known(library, row, metric) for row, metric in told])
    seen = {tuple(row[name] for name in row if name != NUMBER) for row, _ in told}
    found = []
    for tried in range(10000):
        if len(found) == count:
            break
        if tried == TRIES * count:
            study.sampler = library.samplers.RandomSampler(seed=seed)
        trial = study.ask()
        row = suggested(trial)
        if tuple(row.values()) in seen:
            study.tell(trial, state=library.trial.TrialState.FAIL)
            continue
        seen.add(tuple(row.values()))
        found.append({NUMBER: f"/{len(told) + len(found)}", **row})
    return found


told = read("told")
ended = {row["flowdsl-index"].rpartition("/")[2]: measured(row) for row in read("results")}
for pair in told:
    if pair[1] is None:
        pair[1] = ended.get(pair[0][NUMBER][1:])
best = [float(metric) for _, metric in told if usable(metric)]
if told:
    print(f"{len(best)} of {len(told)} trials gave a usable {METRIC}")
if best:
    print(f"the best is {max(best) if GOAL == 'maximize' else min(best)}")
points = chosen(told, min(ROUND, TRIALS - len(told))) if told else FIRST
for row in points:
    print(", ".join(f"{name}={value}" for name, value in row.items() if name != NUMBER))
write("points", "[" + ", ".join(coded(packed(row)) if WHOLE else packed(row) for row in points) + "]")
pairs = [*told, *([row, None] for row in points)]
write("told", "[" + ", ".join(f"[{packed(row)}, {json.dumps(metric)}]" for row, metric in pairs) + "]")
'''

_BODY = _SOURCE.replace("@pip", PIP).replace("@folder", PACKAGES).replace("@in", IN).replace("@out", OUT)


def ask(learnt: Learnt, objective: Objective, texts: Texts, trials: int) -> str:
    """The source of the script: from the trials so far to the points of the next round, without any to the first."""
    dimensions = learnt.dimensions
    choices, sampler = texts.choices, SAMPLERS[learnt.kind]
    head = (
        _IMPORTS,
        f"TRIALS, ROUND, SEED = {trials}, {learnt.size}, {learnt.seed}",
        f"METRIC, GOAL = {quote(objective.metric)}, {quote(f'{objective.goal}imize')}",
        _table("NEEDED", {name: quote(text) for name, text in sampler.needed.items()}),
        f"PACKAGES, TRIES = {_list(() if learnt.image else sampler.packages)}, {sampler.tries}",
        f"NUMBER, WHOLE = {quote(texts.number)}, {texts.whole}",
        f"INTEGERS = {_list(sorted(texts.integers))}",
        _table(
            "SPACE", {one.name: _bounds(one.kind, one.numbers, choices.get(one.name)) for one in dimensions}
        ),
        _table("WHERE", {one.name: f"lambda at: {one.condition}" for one in dimensions if one.condition}),
        _table("DEFAULTS", {name: quote(text) for name, text in texts.defaults.items()}),
        "FIRST = [",
        *(f"    {_row(row)}," for row in texts.first),
        "]\n",
    )
    return "\n".join(head) + _BODY.replace("@sampler", sampler.made)


def _table(name: str, rows: Mapping[str, str]) -> str:
    lines = [f"    {quote(key)}: {value}," for key, value in rows.items()]
    return "\n".join((f"{name} = {{", *lines, "}")) if lines else f"{name} = {{}}"


def _bounds(kind: str, numbers: Sequence[float], choices: Sequence[str] | None) -> str:
    parts = [_list(choices)] if choices is not None else [repr(one) for one in numbers]
    return f"({', '.join([quote(kind), *parts])})"


def _row(row: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{quote(name)}: {quote(text)}" for name, text in row.items()) + "}"


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(quote, texts))}]"
