from flowdsl import loguniform, maximize, pipeline, step, sweep


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float) -> float:
    return 1 - lr


@pipeline
def search() -> None:
    sweep(train, over={"lr": loguniform(1e-5, 1e-1)}, trials=20, objective=maximize())
