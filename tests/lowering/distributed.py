from pathlib import Path
from typing import NamedTuple

from flowdsl import (
    GPU,
    NewVolume,
    Secret,
    TensorFlow,
    Torch,
    Volume,
    command,
    container,
    fan_out,
    output,
    pipeline,
    step,
    when,
)

SHARED = Volume("shared", mode="ReadWriteMany")
WORK = NewVolume("work", size="10Gi", mode="ReadWriteMany")
TORCH = "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"


class Trained(NamedTuple):
    model: Path
    loss: float


@step(
    image=TORCH,
    gpu=GPU(2, product="A100-SXM4-40GB"),
    memory="64Gi",
    shm="8Gi",
    distributed=Torch(workers=4),
    retries=2,
    timeout="6h",
    queue="team-a",
    placement="spread",
    labels={"team": "search"},
    mounts={"/work": WORK},
    env={"NCCL_DEBUG": "INFO", "SHOWN": "$(HOME) costs 3$"},
    secrets={"TOKEN": Secret("hub", "token")},
    packages=["einops==0.8.1"],
)
def train(corpus: Path, rate: float, words: list[str], note: str) -> Trained:
    print(f"{{{rate}}} {note} {words}")
    return Trained(corpus, rate)


@step(image=TORCH, distributed=TensorFlow(workers=2))
def evaluate(loss: float) -> None:
    print("$(FLOWDSL_loss)", loss)


@container(image="nvcr.io/nvidia/pytorch:25.01-py3", gpu=8, distributed=Torch(workers=2, port=29600))
def export(rate: float) -> Path:
    return command("torchrun", "/app/export.py", "--rate", rate, "--out", output())


@step(image="python:3.12-slim")
def publish(model: Path, several: list[Trained]) -> None:
    print(model, several)


@pipeline(
    store=SHARED / "runs", user=1000, image_pull_secrets="registry", pod_labels={"org": "ml"}, timeout="12h", cache=True
)
def nightly(note: str = "x", many: bool = True) -> float:
    first = train(SHARED / "corpus.txt", 0.5, ["a", note], note)
    several = fan_out(train, over={"rate": [0.1, 0.2]}, corpus=first.model, words=[], note=note)
    with when(many):
        evaluate(first.loss)
    publish(export(first.loss), several)
    return first.loss
