from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def greet(name: str) -> None:
    print("hello", name)


@pipeline
def hello() -> None:
    greet("world")
