from flowdsl import pipeline, step

IMAGES = {"resnet": 224, "vit": 384}


@step(image="python:3.12-slim")
def choose(task: str) -> str:
    return "vit" if task == "large" else "resnet"


@step(image="python:3.12-slim")
def train(model: str) -> None:
    print(model, IMAGES.get(model, 224))


@pipeline
def nightly() -> None:
    model = choose("large")
    train(model)
