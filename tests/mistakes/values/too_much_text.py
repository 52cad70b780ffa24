"""Text that is put together of more results than an expression of Argo has room for."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def word(number: int) -> str:
    return "even" if number % 2 == 0 else "odd"


@step(image="python:3.12-slim")
def publish(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    words = fan_out(word, over={"number": list(range(700))})
    some, every = "", ""
    for number in range(700):
        every += words[number]
        if number < 650:
            some += words[number]
    publish.options(name="some")(some)
    publish.options(name="every")(every)
