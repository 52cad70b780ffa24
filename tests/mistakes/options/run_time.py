"""Options that are known only when the pipeline runs."""

from flowdsl import GPU, Volume, pipeline, run, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def plan(rows: int) -> str:
    return f"{rows // 1000}Gi"


@step(image="python:3.12-slim", memory="4Gi")
def train(lr: float) -> None:
    print(lr)


@pipeline
def nightly(image: str = "python:3.12-slim") -> None:
    train.options(memory=plan(40_000), image=image, env={"IMAGE": image})(0.1)
    train.options(name="again", mounts={"/results": DATA / run.name}, gpu=GPU(1, product=image))(0.1)
    train.options(name="tagged", image=f"trainer:{image}")(0.1)
