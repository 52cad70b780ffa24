from flowdsl import integer, loguniform, maximize, normal, pipeline, quniform, step, sweep, uniform


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float, layers: int = 2, dropout: float = 0.1) -> float:
    return lr * layers * dropout


@pipeline
def search() -> None:
    first = {"lr": loguniform(1e-5, 1e-1), "layers": integer(2, 4)}
    sweep(train, over=first, trials=5, objective=maximize())
    second = {"lr": uniform(1, 2), "layers": integer(1, 2)}
    sweep(train.options(name="uniform"), over=second, trials=5, objective=maximize())
    third = {"lr": normal(0.1, 0.01), "dropout": quniform(0, 1, 0.2)}
    sweep(train.options(name="normal"), over=third, trials=5, objective=maximize())
