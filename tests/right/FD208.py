from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def list_shards(table: str) -> list[str]:
    return [f"{table}-{number}" for number in range(8)]


@step(image="python:3.12-slim")
def load(shard: str) -> int:
    return len(shard)


@pipeline
def nightly() -> None:
    fan_out(load, over={"shard": list_shards("orders")})
