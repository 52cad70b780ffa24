"""A sum, and a choice, that loops of Python make of more values than go into each other."""

from flowdsl import either, fan_out, numbers, pipeline, step, when


@step(image="python:3.12-slim")
def loss(shard: int) -> float:
    return 1.0 / (shard + 1)


@step(image="python:3.12-slim")
def total(losses: list[float]) -> float:
    return sum(losses)


@step(image="python:3.12-slim")
def report(value: float) -> None:
    print(value)


@pipeline
def nightly(worst: float = 0.5) -> None:
    added = loss(0)
    for shard in range(1, 400):
        added = added + loss(shard)
    report(added)
    chosen = loss(0)
    for shard in range(1, 400):
        with when(worst > shard):
            other = loss(shard)
        chosen = either(other, chosen)
    report(chosen)
    report(total([loss(shard) for shard in range(400)]))
    report(total(fan_out(loss, over={"shard": numbers(400)})))
