from flowdsl import Torch, Volume, pipeline, step

DATASETS = Volume("datasets", mode="ReadWriteOnce")
MODELS = Volume("models", mode="ReadWriteOnce")


@step(image="python:3.12-slim", distributed=Torch(workers=4), mounts={"/data": DATASETS.ro, "/models": MODELS})
def train() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=Torch(workers=2), store=DATASETS / "runs")
def tune() -> float:
    return 0.5


@pipeline
def nightly() -> None:
    train()
    tune()
