from flowdsl import integer, maximize, pipeline, step, sweep, uniform


@step(image="pytorch/pytorch:2.7.1")
def train(layers: int, dropout: float = 0.0) -> float:
    return layers * dropout


@pipeline
def search() -> None:
    spaces = {"layers": integer(1, 8), "dropout": uniform(0.0, 0.5).when("layers > 3")}
    sweep(train, over=spaces, objective=maximize(), trials=20)
