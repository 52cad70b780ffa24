from pathlib import Path

from flowdsl import S3, Volume, fan_out, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def split(corpus: Path) -> dict[str, Path]:
    for part in "ab":
        Path(f"{part}.txt").write_text(corpus.read_text())
    return {"a": Path("a.txt"), "b": Path("b.txt")}


@step(image="python:3.12-slim")
def read(corpus: Path, packed: bool) -> str:
    if packed:
        return "packed"
    print("reading", corpus.name)
    return corpus.read_text()


@step(image="python:3.12-slim")
def show(corpus: Path) -> str:
    return corpus.name


@step(image="python:3.12-slim")
def words(parts: dict[str, Path]) -> dict[str, int]:
    return {name: len(part.read_text()) for name, part in parts.items()}


@pipeline
def nightly() -> None:
    read(S3("raw/corpus.txt.gz"), packed=True)
    show(DATA / "corpus.txt.gz")
    fan_out(show.options(name="each"), over={"corpus": [DATA / "a.txt", DATA / "b.txt"]})
    words(split(DATA / "corpus.txt"))
