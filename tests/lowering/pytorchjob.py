from pathlib import Path

from flowdsl import GPU, Torch, Volume, command, container, output, pipeline, step

SHARED = Volume("shared", mode="ReadWriteMany")
TORCH = "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"


@step(
    image=TORCH,
    gpu=GPU(2),
    shm="8Gi",
    distributed=Torch(workers=3, operator="pytorchjob"),
    retries=2,
    timeout="6h",
    queue="team-a",
    labels={"team": "search"},
    env={"NCCL_DEBUG": "INFO"},
)
def train(corpus: Path, rate: float) -> float:
    print(corpus)
    return rate


@container(image="nvcr.io/nvidia/pytorch:25.01-py3", gpu=8, distributed=Torch(1, port=29600, operator="pytorchjob"))
def export(loss: float) -> Path:
    return command("torchrun", "/app/export.py", "--loss", loss, "--out", output())


@pipeline(store=SHARED / "runs", timeout="12h")
def nightly() -> Path:
    return export(train(SHARED / "corpus.txt", 0.5))
