from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def split(text: str, separator: str) -> list[str]:
    text, separator = (part.encode().decode("unicode_escape") for part in (text, separator))
    return text.split(separator)


@pipeline
def parse() -> None:
    split(r"a\x1fb", separator=r"\x1f")
