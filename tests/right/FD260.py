from flowdsl import integer, maximize, pipeline, step, sweep


@step(image="pytorch/pytorch:2.7.1")
def train(seed: int, layers: int, width: int) -> float:
    return seed / layers / width


@pipeline
def search() -> None:
    space = {"seed": integer(0, 999), "layers": integer(1, 20), "width": integer(1, 64)}
    sweep(train, over=space, trials=200, objective=maximize())
