"""Charts of sweeps: `get --charts` shows what `get --rounds` tells, and says what it lacks."""

from __future__ import annotations

import json
import math
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from flowdsl.cli.app import run as flowdsl

PIPELINE = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rate: float, layers: int = 1, kind: str = "a") -> float:
    if layers == 3:
        raise RuntimeError("three")
    return rate * layers


@pipeline
def trial(rate: float, layers: int = 1, kind: str = "a") -> float:
    return train(rate, layers, kind)
"""
SPACES = "rate=1e-4,0.01,1 layers=1,2,3 'kind=<b>a</b>,</script>'"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("pipeline.py").write_text(PIPELINE, encoding="utf-8")
    return tmp_path


def said(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    capsys.readouterr()
    code = flowdsl(shlex.split(command))
    out, err = capsys.readouterr()
    return code, out, err


def figures(page: str) -> list[list[dict[str, Any]]]:
    """The traces of each chart of a page."""
    decoder = json.JSONDecoder()
    places = (found.end() for found in re.finditer(r'Plotly\.newPlot\(\s*"chart-\d+",\s*', page))
    return [decoder.raw_decode(page, place)[0] for place in places]


@pytest.mark.parametrize("goal", ["max", "min"])
def test_charts_show_the_trials(goal: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(f"sweep pipeline.py {SPACES} --metric {goal} --run --name one", capsys)[0] == 0
    code, out, _ = said("get one --rounds -o json", capsys)
    assert code == 0
    rounds = sorted(json.loads(out)[0]["rounds"], key=lambda one: int(one["number"]))
    usable = [one for one in rounds if one["phase"] == "Succeeded"]
    assert (len(rounds), len(usable)) == (18, 12)
    metrics = [float(one["values"]["return"]) for one in usable]

    assert said("get one --charts trials.html", capsys) == (0, "", "")
    page = Path("trials.html").read_text(encoding="utf-8")
    assert (
        f"<h2>sweep: the {'largest' if goal == 'max' else 'smallest'} return; 12 of 18 trials gave one</h2>"
        in page
    )
    assert page.count("<b>a</b>") == 0
    assert "/</script>" not in page
    (points, best), (lines,) = figures(page)
    assert points["x"] == [int(one["number"]) for one in usable]
    assert points["y"] == metrics
    assert points["text"][0] == "rate = 0.0001<br>layers = 1<br>kind = &lt;b&gt;a&lt;/b&gt;"
    choose = max if goal == "max" else min
    assert best["y"] == [choose(metrics[: index + 1]) for index in range(len(metrics))]
    assert lines["line"]["reversescale"] is (goal == "min")
    rate, layers, kind, result = lines["dimensions"]
    assert rate["values"] == [math.log10(float(one["values"]["rate"])) for one in usable]
    assert (rate["tickvals"], rate["ticktext"]) == (
        [-4, -3, -2, -1, 0],
        ["1e-4", "1e-3", "1e-2", "1e-1", "1e0"],
    )
    assert layers["values"] == [one["values"]["layers"] for one in usable]
    assert kind["ticktext"] == ["<b>a</b>", "</script>"]
    assert kind["values"][:3] == [0, 1, 0]
    assert result["values"] == metrics

    assert said("get one --charts again.html", capsys)[0] == 0
    assert Path("again.html").read_bytes() == Path("trials.html").read_bytes()


def test_charts_without_a_metric(capsys: pytest.CaptureFixture[str]) -> None:
    loop = (
        "\n\n@pipeline\ndef loop() -> list[float]:\n    return fan_out(train, over={'rate': [0.5, 0.25]})\n"
    )
    Path("loop.py").write_text(
        PIPELINE.replace("import pipeline", "import fan_out, pipeline") + loop, encoding="utf-8"
    )
    assert said("run loop.py:loop --name two", capsys)[0] == 0
    assert said("get two --charts two.html", capsys) == (
        2,
        "",
        "flowdsl: two has no loop with a known metric: say it, as in --metric accuracy:max\n",
    )
    assert not Path("two.html").exists()
    assert said("get two --charts two.html --metric min", capsys) == (0, "", "")
    (points, _), _ = figures(Path("two.html").read_text(encoding="utf-8"))
    assert points["y"] == [0.5, 0.25]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--charts a.png", "--charts a.png: charts are a page of HTML, name it a.html"),
        ("--charts a.html --rounds", "--charts writes a page: leave out --rounds, --events and -o"),
        ("--charts a.html -o json", "--charts writes a page: leave out --rounds, --events and -o"),
        ("--metric max", "--metric orders the rounds of loops: add --rounds or --charts FILE.html"),
        ("--charts none/a.html", "none/a.html cannot be written: there is no folder none"),
    ],
)
def test_charts_that_cannot_be(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said("sweep pipeline.py rate=1,2 --metric max --run --name one", capsys)[0] == 0
    assert said(f"get one {words}", capsys) == (2, "", f"flowdsl: {message}\n")
    assert not Path("a.html").exists()


def test_charts_without_the_extra(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said("sweep pipeline.py rate=1,2 --metric max --run --name one", capsys)[0] == 0
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    assert said("get one --charts a.html", capsys) == (
        2,
        "",
        "flowdsl: --charts needs an extra: pip install 'flowdsl[sweep]'\n",
    )
    assert not Path("a.html").exists()
