from flowdsl import choice, maximize, pipeline, step, sweep


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float, layers: int) -> float:
    return lr * layers


@pipeline
def search() -> None:
    sweep(train, over={"lr": [0.1], "layers": choice(2, 4)}, objective=maximize())
