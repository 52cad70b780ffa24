from flowdsl import otherwise, pipeline, step, when


@step(image="python:3.12-slim")
def evaluate(model: str) -> float:
    return len(model) / 10


@step(image="python:3.12-slim")
def publish(model: str) -> None:
    print(model)


@step(image="python:3.12-slim")
def alert(text: str) -> None:
    print(text)


@pipeline
def nightly(model: str = "resnet") -> None:
    with when(evaluate(model) > 0.9):
        publish(model)
    with otherwise():
        alert.options(name="bad")("the model is bad")
    alert("evaluated")
