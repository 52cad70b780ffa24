"""Files in the block for the end of the task that makes them: there are none if it has failed."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Raw, either, on_exit, on_failure, pipeline, step

PYTHON = "python:3.12-slim"


class Noted(NamedTuple):
    file: Path | None
    note: str


@step(image=PYTHON)
def fit(size: int) -> Path:
    if size == 0:
        raise ValueError("nothing to fit")
    Path("model").write_text(f"model {size}")
    return Path("model")


@pipeline
def fitted(size: int) -> Path:
    return fit(size)


@step(image=PYTHON)
def spare() -> Path:
    Path("model").write_text("spare")
    return Path("model")


@step(image=PYTHON)
def show(model: Path | None) -> None:
    print(model and model.read_text())


@step(image=PYTHON)
def keep(noted: Noted) -> None:
    print(noted.file and noted.file.read_text(), noted.note)


@pipeline
def file_ends(size: int = 1) -> None:
    one, two = fit(size), fitted(size)
    with on_exit(one) as end:
        show.options(name="nothing")(either(one, None))
        show.options(name="text")(either(one, Raw("text")))
        keep(Noted(either(one, None), end.status))
    with on_exit(two):
        show.options(name="inner")(either(two, None))
        show.options(name="other")(either(two, spare()))
    with on_failure(two):
        show.options(name="never")(either(two, None))
