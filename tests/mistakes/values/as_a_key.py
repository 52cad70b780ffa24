"""Tables that are looked up with the result of a step, or made with it as a key."""

from flowdsl import pipeline, step

IMAGES = {"resnet": 224, "vit": 384}


@step(image="python:3.12-slim")
def choose(task: str) -> str:
    return "vit" if task == "large" else "resnet"


@step(image="python:3.12-slim")
def train(model: str, size: int) -> None:
    print(model, size)


@step(image="python:3.12-slim")
def compare(sizes: dict[str, int], others: list[object]) -> None:
    print(sizes, others)


@pipeline
def nightly(most: int = 10) -> None:
    model = choose("large")
    train(model, IMAGES.get(model, 224))
    compare({model: most, "resnet": 224}, [{most: model}])
