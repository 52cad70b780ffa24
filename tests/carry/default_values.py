from flowdsl import Volume, step
from pathlib import Path

DATA = Volume("datasets")
SIZE = 3
ARGUMENTS = {"raw": Path("x"), "more": {}}


@step(image="python:3.12-slim")
def train(
    raw: Path = DATA / "raw", other: Path = DATA
    / "other", size: int = SIZE * 2, *, more: dict[str, int] = {"a": SIZE}, last: Path = (DATA / "ü"), end: int = 1
) -> int:
    return size + len(more) + end
