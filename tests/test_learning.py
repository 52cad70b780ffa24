"""Searches that learn: their points are those of Optuna, they keep to their conditions, and what is told stays told."""

from __future__ import annotations

import importlib.util
import json
import math
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import optuna
import pytest
import yaml

from flowdsl.cli.app import run as flowdsl

PIPELINE = """
from flowdsl import {words}, pipeline, step, sweep
from flowdsl import Tpe, maximize


@step(image="python:3.12-slim")
def train({parameters}) -> float:
    {body}


@pipeline
def tuned() -> float:
    return sweep(train, over={over}, objective=maximize(), {asked}).best
"""

TRAIN = """import math

    print(rate)
    if layers == 7:
        raise RuntimeError("seven")
    return math.inf if layers == 8 else 1 - 0.1 * abs(math.log10(rate) + 2) - 0.02 * abs(layers - 4)"""
FEW = {
    "words": "choice, loguniform",
    "parameters": "rate: float, layers: int",
    "body": TRAIN,
    "over": '{"rate": loguniform(1e-5, 1.0), "layers": choice(1, 2, 3, 4, 5, 6, 7, 8)}',
    "asked": 'search="tpe", trials=34, parallel=8, seed=5',
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Script(NamedTuple):
    """The script that chooses points, taken from a compiled pipeline."""

    path: Path

    def __call__(self, told: Any, results: Any) -> dict[str, Any]:
        """Run it; returns its variables."""
        for name, value in (("told", told), ("results", results)):
            self.path.with_name(name).write_text(json.dumps(value), encoding="utf-8")
        return runpy.run_path(str(self.path))

    def written(self, name: str) -> Any:
        """A value that it has written."""
        return json.loads(self.path.with_name("out").joinpath(name).read_text(encoding="utf-8"))


def script(capsys: pytest.CaptureFixture[str], **parts: str) -> Script:
    Path("pipeline.py").write_text(PIPELINE.format(**parts), encoding="utf-8")
    assert flowdsl(["compile", "pipeline.py"]) == 0
    templates = yaml.safe_load(capsys.readouterr().out)["spec"]["templates"]
    (source,) = (one["script"]["source"] for one in templates if one["name"].endswith("-points"))
    path = Path.cwd() / "ask.py"
    source = source.replace("/tmp/flowdsl/in", str(path.parent)).replace(
        "/tmp/flowdsl-out", f"{path.parent}/out"
    )
    path.write_text(source, encoding="utf-8")
    return Script(path)


def rounds(name: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert flowdsl(["get", name, "--rounds", "-o", "json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)
    assert table["path"] == "train"
    return sorted(table["rounds"], key=lambda one: int(one["number"]))


def test_the_points_of_a_run_are_those_of_optuna(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pipeline.py").write_text(PIPELINE.format(**FEW), encoding="utf-8")
    assert flowdsl(shlex.split("run pipeline.py --name one")) == 0
    trials = rounds("one", capsys)
    assert [one["number"] for one in trials] == list(range(34))
    metrics = [float(one["values"]["return"]) if one["phase"] == "Succeeded" else math.nan for one in trials]
    assert {one["phase"] for one in trials if one["values"]["layers"] == 7} == {"Failed"}
    (best,) = (one for one in trials if one["best"])
    assert metrics[best["number"]] == max(one for one in metrics if math.isfinite(one))

    points = [(float(one["values"]["rate"]), int(one["values"]["layers"])) for one in trials]
    assert len(set(points)) == 34
    spaces: dict[str, Any] = {
        "rate": optuna.distributions.FloatDistribution(1e-5, 1.0, log=True),
        "layers": optuna.distributions.CategoricalDistribution(range(8)),
    }
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    for first in (10, 18, 26):
        sampler = optuna.samplers.TPESampler(seed=5 + first, n_startup_trials=0, constant_liar=True)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for (rate, layers), metric in zip(points[:first], metrics[:first], strict=True):
            given: dict[str, Any] = {"params": {"rate": rate, "layers": layers - 1}, "distributions": spaces}
            given |= {"value": metric} if math.isfinite(metric) else {"state": optuna.trial.TrialState.FAIL}
            study.add_trial(optuna.trial.create_trial(**given))
        asked = [study.ask(spaces).params for _ in range(8)]
        assert [(float(f"{one['rate']:.6g}"), one["layers"] + 1) for one in asked] == points[
            first : first + 8
        ]

    usable = [[one for one in some if math.isfinite(one)] for some in (metrics[:10], metrics[26:])]
    assert sum(usable[1]) / len(usable[1]) > sum(usable[0]) / len(usable[0])
    assert flowdsl(["logs", "one", "train(30)"]) == 0
    assert capsys.readouterr().out.startswith(f"{trials[30]['values']['rate']}\n")
    assert flowdsl(shlex.split("run pipeline.py --name two")) == 0
    again = rounds("two", capsys)
    assert [one["values"]["rate"] for one in again] == [one["values"]["rate"] for one in trials]


CONDITIONS = [
    "kind == b",
    "kind != b and rate > 0.1",
    "kind in (a, c) or rate <= 0.01",
    "not (kind == a or units >= 5)",
    "units in (1, 3, 5)",
    "units not in (2, 4) and flag",
    "not flag",
    "step > 0.45",
    "maybe == None or maybe > 2",
    "inner > 0.5",
    "inner == 0.0 and wide != 7",
    "wide > 500000",
]


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_parameter_is_searched_where_its_condition_holds(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = script(
        capsys,
        words="choice, integer, loguniform, quniform, uniform",
        parameters=(
            "kind: str, rate: float, units: int, flag: bool, step: float, maybe: int | None, wide: int, "
            "tries: int | None, inner: float = 0.0, last: float = -1.0"
        ),
        body="return 0.0",
        over=(
            '{"kind": ["a", "b", "c"], "rate": loguniform(1e-3, 1.0), "units": integer(1, 6), "flag": [True, False], '
            '"step": quniform(0.0, 1.0, 0.1), "maybe": choice(None, 1, 2, 3), "wide": integer(1, 1_000_000), '
            '"tries": integer(1, 9), '
            '"inner": uniform(0.1, 0.9).when("kind == a"), '
            f'"last": uniform(0.0, 1.0).when("{text}")}}'
        ),
        asked="search=Tpe(startup=80), trials=84, parallel=4",
    )
    names = ask([], [])
    for row in names["FIRST"]:
        at: dict[str, object] = {}
        for name in names["SPACE"]:
            at[name] = names["number"](name, row[name]) if names["searched"](name, at) else None
            assert (at[name] is None) == (row[name] == names["DEFAULTS"].get(name)), (name, row)
    told = [[row, repr(index / 80)] for index, row in enumerate(names["FIRST"])]
    new = ask(told, [])["points"]
    assert [one["i"] for one in new] == ["/80", "/81", "/82", "/83"]
    assert all(list(one) == list(names["FIRST"][0]) for one in new)
    assert all(one["tries"].isdecimal() for one in new)  # also where it may be None


NEEDED = {"scipy": "SciPy", "torch": "PyTorch"}


def test_a_gaussian_process_chooses_points(capsys: pytest.CaptureFixture[str]) -> None:
    asked = 'search=Gp(image="registry.example.com/optuna-torch:5", startup=4), trials=10, parallel=3, seed=5'
    ask = script(capsys, **{**FEW, "words": "Gp, choice, loguniform", "asked": asked})
    first = ask([], [])["points"]
    missing = [text for name, text in NEEDED.items() if importlib.util.find_spec(name) is None]
    metrics = [0.25, 0.5, None, 0.75]
    if missing:
        with pytest.raises(SystemExit) as ended:
            ask([[row, metric and str(metric)] for row, metric in zip(first, metrics, strict=True)], [])
        assert str(ended.value.code).startswith(f"{sys.executable} has no {' and no '.join(missing)}: ")
    else:
        found = ask([[row, metric and str(metric)] for row, metric in zip(first, metrics, strict=True)], [])
        spaces: dict[str, Any] = {
            "rate": optuna.distributions.FloatDistribution(1e-5, 1.0, log=True),
            "layers": optuna.distributions.CategoricalDistribution(range(8)),
        }
        sampler = optuna.samplers.GPSampler(seed=5 + 4, n_startup_trials=1)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for row, metric in zip(first, metrics, strict=True):
            given: dict[str, Any] = {"params": {"rate": float(row["rate"]), "layers": int(row["layers"]) - 1}}
            given |= {"state": optuna.trial.TrialState.FAIL} if metric is None else {"value": metric}
            study.add_trial(optuna.trial.create_trial(**given, distributions=spaces))
        chosen = [study.ask(spaces).params for _ in range(3)]
        assert [(float(f"{one['rate']:.6g}"), one["layers"] + 1) for one in chosen] == [
            (float(one["rate"]), int(one["layers"])) for one in found["points"]
        ]


def test_every_point_of_a_small_space_is_tried_once(capsys: pytest.CaptureFixture[str]) -> None:
    ask = script(
        capsys,
        words="choice, quniform",
        parameters="kind: str, step: float",
        body="return step",
        over='{"kind": ["say \\"a\\"", "{b}", "$(c)"], "step": quniform(0.0, 0.3, 0.1)}',
        asked="search=Tpe(startup=4), trials=12, parallel=3",
    )
    told: Any = []
    results: Any = []
    seen: list[str] = []
    for size in (4, 3, 3, 2):
        ask(told, results)
        text = ask.path.with_name("out").joinpath("points").read_text(encoding="utf-8")
        assert "{{" not in text  # Argo would substitute it, and the kubelet what follows a dollar
        assert "$" not in text
        points = [json.loads(one) for one in json.loads(text)]
        assert len(points) == size
        seen += (f"{one['kind']} {one['step']}" for one in points)
        told = ask.written("told")
        # A trial in a loop has the indices of all items; failed ones have no result.
        results = [{"flowdsl-index": f"/7{one['i']}", "return": one["step"]} for one in points[1:]]
    assert sorted(seen) == sorted(
        f"{kind} {step / 10}" for kind in ('say "a"', "{b}", "$(c)") for step in range(4)
    )
    assert [metric is None for _, metric in told].count(True) == 3 + 2


def test_choices_that_are_escaped_arrive_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["{b}", "$(c)", "{{d}}"]
    source = PIPELINE.format(
        words="uniform",
        parameters="kind: str, share: float",
        body=f"return float({texts}.index(kind))",
        over=f'{{"kind": {texts}, "share": uniform(0.0, 1.0)}}',
        asked="search=Tpe(startup=6), trials=9, parallel=3",
    )
    Path("pipeline.py").write_text(source, encoding="utf-8")
    assert flowdsl(shlex.split("run pipeline.py --name one")) == 0
    tried = [(one["values"]["kind"], one["values"]["return"]) for one in rounds("one", capsys)]
    assert len(tried) == 9
    assert {*tried} == {(text, float(number)) for number, text in enumerate(texts)}


def test_a_search_without_a_usable_trial_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pipeline.py").write_text(PIPELINE.format(**FEW), encoding="utf-8")
    spaces = "layers=7,8 'rate=uniform(0.1,1)' --metric max --trials 13 --parallel 4 --search tpe"
    assert flowdsl(shlex.split(f"sweep pipeline.py:train {spaces} --run --name none")) == 1
    assert "no trial of sweep returned a usable return" in capsys.readouterr().out


@pytest.mark.parametrize("image", ["", "registry.example.com/optuna:5"])
def test_an_image_without_optuna(
    image: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    method = f'Tpe(image="{image}")' if image else '"tpe"'
    ask = script(capsys, **{**FEW, "asked": f"search={method}, trials=12, parallel=1"})
    first = ask([], [])["points"]  # the first round needs no library
    monkeypatch.setitem(sys.modules, "optuna", None)
    asked: list[list[str]] = []

    def call(command: list[str], **_: object) -> int:
        asked.append(command)
        return 1

    monkeypatch.setattr(subprocess, "call", call)
    with pytest.raises(SystemExit) as ended:
        ask([[row, "0.5"] for row in first], [])
    if image:
        assert str(ended.value.code).startswith(
            f"{sys.executable} has no Optuna: install that in the image of the search, "
        )
        assert asked == []
    else:
        assert ended.value.code == "the search could not install Optuna, for the reason above"
        assert [one[-1] for one in asked] == [f"optuna=={optuna.__version__}"]
