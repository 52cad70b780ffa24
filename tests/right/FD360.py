from flowdsl import TensorFlow, Volume, pipeline, step

SHARED = Volume("shared", mode="ReadWriteMany")


@step(image="python:3.12-slim", distributed=TensorFlow(workers=4), store=SHARED / "runs")
def train() -> float:
    return 0.9


@pipeline
def nightly() -> float:
    return train()
