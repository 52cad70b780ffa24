from flowdsl import Torch, pipeline, step


@step(image="python:3.12-slim", gpu=2, distributed=Torch(workers=4, port=29600), env={"NCCL_DEBUG": "INFO"})
def train() -> None:
    print("training")


@pipeline
def nightly() -> None:
    train()
