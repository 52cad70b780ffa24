from flowdsl import integer, maximize, pipeline, step, sweep, uniform


@step(image="python:3.12-slim")
def train(layers: int, rate: float) -> float:
    return layers * rate


@pipeline
def search() -> None:
    spaces = {"layers": integer(1, 9), "rate": uniform(0.0, 1.0)}
    sweep(train, over=spaces, search="tpe", trials=20, parallel=4, objective=maximize())
