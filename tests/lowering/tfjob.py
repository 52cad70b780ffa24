from pathlib import Path

from flowdsl import GPU, TensorFlow, Volume, command, container, output, pipeline, step

SHARED = Volume("shared", mode="ReadWriteMany")
TF = "tensorflow/tensorflow:2.16.1-gpu"


@step(image=TF, gpu=1, distributed=TensorFlow(workers=3, operator="tfjob"), retries=2, queue="team-a")
def train(corpus: Path, rate: float) -> float:
    print(corpus)
    return rate


@step(
    image=TF,
    gpu=GPU(2, product="NVIDIA-A100-SXM4-40GB"),
    cpu=4,
    memory="16Gi",
    node={"disk": "ssd"},
    distributed=TensorFlow(workers=4, ps=2, operator="tfjob"),
    timeout="6h",
    labels={"team": "search"},
)
def serve(loss: float) -> float:
    return loss


@container(image=TF, gpu=1, distributed=TensorFlow(workers=1, port=2300, operator="tfjob"))
def export(loss: float) -> Path:
    return command("python", "/app/export.py", "--loss", loss, "--out", output())


@pipeline(store=SHARED / "runs", timeout="12h")
def nightly() -> Path:
    return export(serve(train(SHARED / "corpus.txt", 0.5)))
