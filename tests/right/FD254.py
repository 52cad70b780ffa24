from flowdsl import maximize, pipeline, step, sweep


def rates(count: int) -> list[float]:
    return [10.0**-number for number in range(count)]


@step(image="pytorch/pytorch:2.7.1")
def train(lr: float) -> float:
    return 1 - lr


@pipeline
def search() -> None:
    sweep(train, over={"lr": rates(5)}, objective=maximize())
