"""What may fail and may be nothing: the default stands in for both."""

from flowdsl import either, pipeline, step

PYTHON = "python:3.12-slim"


@step(image=PYTHON)
def note() -> str | None:
    return None


@step(image=PYTHON)
def loss() -> float | None:
    return None


@step(image=PYTHON)
def show(text: str, number: float) -> str:
    return f"{text} {number}"


@pipeline
def main() -> str:
    said = note.options(may_fail=True)()
    lost = loss.options(may_fail=True)()
    return show(either(said, "none"), either(lost, 0.5) * 2)
