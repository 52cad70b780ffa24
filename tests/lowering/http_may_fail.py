"""A request that may fail: its result is Argo's own variable, and here a parameter with something to take instead."""

from flowdsl import either, http, pipeline, request, step


@http()
def ask(url: str) -> str:
    return request("GET", url)


@step(image="python:3.12-slim")
def show(text: str) -> None:
    print(text)


@pipeline
def http_may_fail() -> None:
    answer = ask.options(may_fail=True)("https://example.com/a")
    show(either(answer, "nothing"))
