from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def train(model: str, size: int) -> float:
    return len(model) / size


@pipeline
def nightly() -> None:
    fan_out(train, over={"model": ["resnet", "vit", "mlp"], "size": [224, 384, 28]})
