from flowdsl import fan_out, pipeline, step

MORE = [{"c": "9007199254740993"}]


@step(image="python:3.12-slim")
def names() -> list[str]:
    return ["a", "b"]


@step(image="python:3.12-slim")
def load(name: str, ids: dict[str, str]) -> int:
    return int(ids[name])


@pipeline
def nightly(more: list[dict[str, str]] = MORE) -> None:
    fan_out(load, over={"name": names(), "ids": [{"a": "1827364554433221123"}, {"b": "2"}]})
    fan_out(load.options(name="again"), over={"ids": more}, name="c")
