from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def models(task: str, sizes: list[int]) -> list[tuple[str, int]]:
    return [(model, size) for model in (task, "resnet") for size in sizes]


@step(image="python:3.12-slim")
def train(model: tuple[str, int]) -> float:
    return len(model[0]) / model[1]


@pipeline
def nightly() -> None:
    fan_out(train, over={"model": models("vision", [224, 384])})
