from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def split(text: str, separator: str) -> list[str]:
    return text.split(separator.encode().decode("unicode_escape"))


@pipeline
def parse() -> None:
    split("a b", separator=r"\x1f")
