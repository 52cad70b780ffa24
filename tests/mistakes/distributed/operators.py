from flowdsl import Torch, pipeline, step


@step(image="python:3.12-slim", distributed=Torch(workers=2, operator="pytorch"))
def almost() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=Torch(workers=2, operator=True))
def flagged() -> None:
    print("training")


@pipeline
def nightly() -> None:
    almost()
    flagged()
