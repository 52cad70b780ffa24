from flowdsl import TensorFlow, Torch, pipeline, step


@step(image="python:3.12-slim", distributed=4)
def several() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=Torch(workers=0))
def nobody() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=TensorFlow(2, port=123456))
def nowhere() -> None:
    print("training")


@pipeline
def nightly() -> None:
    several()
    nobody()
    nowhere()
