from pathlib import Path

from flowdsl import GPU, MPI, Secret, Volume, command, container, output, pipeline, step

SHARED = Volume("shared", mode="ReadWriteMany")
HOROVOD = "horovod/horovod:0.28.1"


@step(
    image=HOROVOD,
    gpu=GPU(2, product="NVIDIA-A100-SXM4-40GB"),
    cpu=4,
    memory="16Gi",
    shm="8Gi",
    distributed=MPI(workers=3),
    retries=2,
    timeout="6h",
    queue="team-a",
    env={"NCCL_DEBUG": "INFO"},
    secrets={"TOKEN": Secret("hub", "token")},
)
def train(corpus: Path, rate: float) -> float:
    print(corpus)
    return rate


@container(image=HOROVOD, cpu=2, distributed=MPI(2, processes=4))
def export(loss: float) -> Path:
    return command("/app/export", "--loss", loss, "--out", output())


@pipeline(store=SHARED / "runs", timeout="12h")
def nightly() -> Path:
    return export(train(SHARED / "corpus.txt", 0.5))
