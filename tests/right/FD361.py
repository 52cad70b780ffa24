from flowdsl import Torch, Volume, pipeline, step

DATASETS = Volume("datasets", mode="ReadWriteMany")
MODELS = Volume("models", mode="ReadWriteOnce")


@step(image="python:3.12-slim", distributed=Torch(workers=4), mounts={"/data": DATASETS})
def train() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=Torch(workers=1, processes=4), mounts={"/models": MODELS})
def tune() -> None:
    print("tuning")


@pipeline
def nightly() -> None:
    train()
    tune()
