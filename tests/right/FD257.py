from flowdsl import choice, maximize, pipeline, step, sweep


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float, layers: int = 2) -> float:
    return lr * layers


@pipeline
def search() -> None:
    rates = choice(1e-5, 1e-3, 1e-1)
    some = choice(1, 2, 4)
    sweep(train, over={"lr": rates, "layers": some}, objective=maximize())
