from pathlib import Path

from flowdsl import GPU, TensorFlow, Torch, Volume, command, container, output, pipeline, step

SHARED = Volume("shared", mode="ReadWriteMany")
TORCH = "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"


@step(
    image=TORCH,
    gpu=GPU(2),
    distributed=Torch(workers=3, operator="trainjob"),
    retries=2,
    timeout="6h",
    queue="team-a",
)
def train(corpus: Path, rate: float) -> float:
    print(corpus)
    return rate


@step(image="tensorflow/tensorflow:2.16.1", cpu=1, distributed=TensorFlow(workers=2, operator="trainjob"))
def evaluate(loss: float) -> float:
    return loss


@container(image="nvcr.io/nvidia/pytorch:25.01-py3", gpu=8, distributed=Torch(2, operator="trainjob"))
def export(loss: float) -> Path:
    return command("torchrun", "/app/export.py", "--loss", loss, "--out", output())


@pipeline(store=SHARED / "runs", timeout="12h")
def nightly() -> Path:
    return export(evaluate(train(SHARED / "corpus.txt", 0.5)))
