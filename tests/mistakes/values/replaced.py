"""Changes of texts with values in them, after which the text would hold another value."""

from flowdsl import pipeline, run, step


@step(image="python:3.12-slim")
def show(title: str, text: str) -> None:
    print(title, text)


@pipeline
def nightly(day: str = "1", part: str = "2", size: str = "3") -> None:
    texts = [f"day {day}", f"part {part}", f"size {size} 2".replace("2", "0")]
    show(texts[0], texts[1])
    again = show.options(name="again")
    again(texts[2], f"{run.namespace}".replace("space", ""))
