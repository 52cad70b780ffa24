from flowdsl import on_exit, pipeline, step


@step(image="python:3.12-slim")
def train() -> None: ...


@pipeline
def nightly() -> None:
    train()
    with on_exit():
        print("done")
