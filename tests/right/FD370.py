from flowdsl import maximize, normal, pipeline, step, sweep


@step(image="pytorch/pytorch:2.7.1")
def train(
    a: float,
    b: float,
    c: float,
    d: float,
    e: float,
    f: float,
    g: float,
    h: float,
    i: float,
    j: float,
    k: float,
) -> float:
    return a + b + c + d + e + f + g + h + i + j + k


@pipeline
def search() -> None:
    starts = {name: normal(0.0, 0.1) for name in "abcdefghijk"}
    sweep(train, over=starts, search="random", trials=32, objective=maximize())
