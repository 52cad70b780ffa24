"""Names that a step reads above the statements that give them a value: imports, patterns, handlers, definitions."""

from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("data")


@step(image="python:3.12-slim")
def tell(corpus: Path) -> str:
    text = dumps(first, rest, more)
    from json import dumps

    match corpus.read_text().split():
        case [first, *rest]:
            print(shown(first))
        case {"a": 1, **more}:
            print(more)
    print(problem, Shown)
    try:
        pass
    except OSError as problem:
        print(problem)

    def shown(one: str) -> str:
        return one

    class Shown: ...

    return text


@step(image="python:3.12-slim")
def count(corpus: Path) -> int:
    return size
    with corpus.open() as lines:
        size = len(list(lines))


@pipeline
def nightly() -> None:
    tell(DATA / "table.csv")
    count(DATA / "table.csv")
