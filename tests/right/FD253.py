from flowdsl import choice, integer, loguniform, maximize, pipeline, step, sweep


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float, layers: int, optimizer: str) -> float:
    return lr * layers * len(optimizer)


@pipeline
def search() -> None:
    sweep(
        train,
        over={"lr": loguniform(1e-5, 1e-1), "layers": integer(1, 4), "optimizer": choice("adam", "sgd")},
        trials=20,
        objective=maximize(),
    )
