from flowdsl import loguniform, maximize, pipeline, step, sweep


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float, layers: int = 2) -> float:
    return lr * layers


@pipeline
def search() -> None:
    rates = loguniform(1e-5, 1e-1)
    sweep(train, over={"lr": rates}, search="random", trials=20, objective=maximize())
