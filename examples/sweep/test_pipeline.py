"""The whole pipeline, run on this machine: `pytest examples/sweep`."""

import json
from pathlib import Path

from examples.sweep.pipeline import Trained, moons
from flowdsl.testing import RunPipeline


def test_the_best_model_is_published(run_pipeline: RunPipeline, tmp_path: Path) -> None:
    run = run_pipeline(moons, mounts={"models": tmp_path})
    assert run.phase == "Succeeded"
    trials: list[Trained] = run.steps["runs"].outputs
    best = max(trials, key=lambda trial: trial.accuracy)
    published = json.loads((tmp_path / "moons/network.json").read_text(encoding="utf-8"))
    assert published == json.loads(best.model.read_text(encoding="utf-8"))


def test_a_poor_model_is_not_published(run_pipeline: RunPipeline, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    model.write_text("{}", encoding="utf-8")
    run = run_pipeline(moons, fakes={"train": Trained(model, 0.5)}, mounts={"models": tmp_path})
    assert run.phase == "Succeeded"
    assert run.steps["publish"].phase == "Skipped"
