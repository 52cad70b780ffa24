from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def name_of(url: str) -> str:
    return url.rpartition("/")[2]


@step(image="python:3.12-slim")
def publish(title: str) -> None:
    print(title.upper())


@pipeline
def release() -> None:
    name = name_of("https://example.com/model")
    publish(f"model {name}")
    publish.options(name="short")(name)
