from flowdsl import Cache, Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim", cache=Cache(salt="2024-06"), code=DATA / "src")
def embed(text: str) -> int:
    return len(text)


@pipeline
def nightly() -> None:
    embed("all")
