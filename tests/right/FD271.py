from flowdsl import GPU, Volume, pipeline, run, step

DATA = Volume("datasets")
IMAGE = "python:3.12-slim"


@step(image=IMAGE, memory="4Gi")
def train(lr: float, image: str) -> None:
    print(lr, image)


@pipeline
def nightly(image: str = IMAGE) -> None:
    train.options(memory="40Gi", image=IMAGE, env={"IMAGE": IMAGE})(0.1, image)
    again = train.options(name="again", mounts={"/results": DATA / "results"}, gpu=GPU(1, product="A100"))
    again(0.1, run.name)
