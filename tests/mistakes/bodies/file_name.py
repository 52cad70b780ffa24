"""Names of files that were lost on the way: of one that a step made, of items of a loop, and from outside."""

from pathlib import Path

from flowdsl import S3, Volume, fan_out, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def split(corpus: Path) -> list[Path]:
    for part in "ab":
        Path(f"{part}.txt").write_text(corpus.read_text())
    return [Path("a.txt"), Path("b.txt")]


@step(image="python:3.12-slim")
def read(corpus: Path) -> str:
    if corpus.suffix == ".gz":
        return "packed"
    print("reading", corpus.name)
    return corpus.read_text()


@step(image="python:3.12-slim")
def words(part: Path) -> dict[str, int]:
    return {part.stem: len(part.read_text())}


@pipeline
def nightly() -> None:
    read(S3("raw/corpus.txt.gz"))
    read.options(name="mounted")(DATA / "corpus.txt.gz")
    fan_out(words, over={"part": split(DATA / "corpus.txt")})
