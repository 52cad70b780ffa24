"""One pipeline for four clusters, whose profiles are in flowdsl.toml: nothing here depends on where it runs.

Training takes GPUs that may be taken away, so it keeps checkpoints and goes on where it was; the models are then
judged on parts of GPUs, close together, so that whole nodes stay free. The YAML for each cluster is beside this file.
"""

import json
from pathlib import Path
from typing import NamedTuple

from flowdsl import GPU, Volume, fan_out, pipeline, run, step

DATA = Volume("datasets")
TORCH = "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"


class Trained(NamedTuple):
    model: Path
    loss: float


@step(image=TORCH, gpu=GPU(2, product="A100*", memory="40Gi"), pool="training", spot=True, placement="spread")
def train(corpus: Path, rate: float, rounds: int, state: Path = run.checkpoint_dir) -> Trained:
    """Fit the mean of the numbers in a file; after each round, the state is kept."""
    numbers = [float(line) for line in corpus.read_text(encoding="utf-8").split()]
    kept = state / "state.json"
    done, mean = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else (0, 0.0)
    for number in range(done, rounds):
        mean += rate * (sum(numbers) / len(numbers) - mean)
        whole = state / "state.json.new"  # a pod may be taken away while it writes
        whole.write_text(json.dumps([number + 1, mean]), encoding="utf-8")
        whole.replace(kept)
    model = Path("model.json")
    model.write_text(json.dumps(mean), encoding="utf-8")
    return Trained(model, sum((number - mean) ** 2 for number in numbers) / len(numbers))


@step(image=TORCH, gpu=GPU(1, share="6Gi"), placement="pack", queue="research")
def judge(trained: list[Trained]) -> float:
    """The least loss."""
    return min(one.loss for one in trained)


@pipeline
def training(rounds: int = 100) -> float:
    models = fan_out(
        train,
        over={"rate": [0.3, 0.1, 0.03]},
        corpus=DATA / "numbers.txt",
        rounds=rounds,
        state=run.checkpoint_dir,
    )
    return judge(models)
