"""One cluster, two generations of cards: what can wait trains on the old, what is urgent on the new.

Both pipelines train the same model with the same steps. What differs is where `train` may run, and which
of the two the cluster puts first when cards are scarce.
"""

import json
from pathlib import Path
from typing import Annotated, NamedTuple

from flowdsl import GPU, Volume, command, container, output, pipeline, step

CLICKS = Volume("clicks", mode="ReadOnlyMany")
OLD = GPU(1, product=["Tesla-V100-SXM2-32GB", "Tesla-T4"])
NEW = GPU(4, product="NVIDIA-H100-80GB-HBM3")


class Trained(NamedTuple):
    model: Path
    loss: float


@container(image="registry.example.com/recommender/train:3.2.0", cpu=8, memory="48Gi")
def train(clicks: Path, epochs: int) -> Trained:
    return command(
        "torchrun",
        "--standalone",
        "--nproc-per-node=gpu",
        "/app/train.py",
        f"--clicks={clicks}",
        f"--epochs={epochs}",
        f"--model={output('model')}",
        f"--loss={output('loss')}",
    )


@step(image="python:3.12-slim")
def judge(model: Path, loss: float, most: float) -> Path:
    """The model with a note of its loss; a loss that is too high ends the run."""
    if loss > most:
        raise SystemExit(f"a loss of {loss} is more than {most}")
    release = Path("release")
    release.mkdir()
    (release / "model.pt").write_bytes(model.read_bytes())
    (release / "about.json").write_text(json.dumps({"loss": loss}), encoding="utf-8")
    return release


@pipeline(priority="batch-low", timeout="20h", ttl="72h")
def nightly(epochs: int = 30, most: float = 0.4) -> Path:
    on_old = train.options(gpu=OLD, tolerations=["spot=true:NoSchedule"], retries=5)
    trained = on_old(CLICKS / "all", epochs)
    return judge(trained.model, trained.loss, most)


@pipeline(priority="production-high", timeout="2h")
def hotfix(day: Annotated[str, "a folder of days, 2026-05-01"], epochs: int = 3, most: float = 0.5) -> Path:
    on_new = train.options(gpu=NEW, node={"pool": "reserved"}, where="zone in (eu-1a, eu-1b) and not spot")
    trained = on_new(CLICKS / f"days/{day}", epochs)
    return judge(trained.model, trained.loss, most)
