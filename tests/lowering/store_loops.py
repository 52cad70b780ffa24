"""Files of loops on a volume: in a list, in records, one inside the other, and of the best trial."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, fan_out, maximize, pipeline, step, sweep, when

DATA = Volume("datasets")
SCRATCH = Volume("scratch")


class Trained(NamedTuple):
    model: Path
    accuracy: float


@step(image="python:3.12-slim")
def shards(count: int) -> list[int]:
    return list(range(count))


@step(image="python:3.12-slim")
def tokenize(shard: int, prefix: str = "shard") -> Path:
    tokens = Path("tokens")
    tokens.write_text(f"{prefix} {shard}")
    return tokens


@step(image="python:3.12-slim")
def merge(parts: list[Path]) -> Path:
    merged = Path("merged")
    merged.write_text(", ".join(part.read_text() for part in parts))
    return merged


@step(image="python:3.12-slim")
def train(corpus: Path, rate: float) -> Trained:
    model = Path("model")
    model.write_text(f"{corpus.read_text()} at {rate}")
    return Trained(model, 1 - rate)


@step(image="python:3.12-slim")
def compare(runs: list[Trained], best: Path) -> dict[str, Path]:
    found = Path("found")
    found.write_text("\n".join(f"{one.accuracy}: {one.model.read_text()}" for one in runs))
    return {"all": found, "best": best}


@step(image="python:3.12-slim")
def publish(files: dict[str, Path], tokens: list[Path]) -> None:
    print({name: file.read_text() for name, file in files.items()}, len(tokens))


@pipeline
def language(prefix: str, count: int) -> Path:
    parts = fan_out(tokenize, over={"shard": shards(count)}, prefix=prefix)
    return merge(parts)


@pipeline(store=DATA / "runs")
def store_loops(count: int = 3) -> None:
    tokens = fan_out(tokenize, over={"shard": [3, 1, 2]})
    corpora = fan_out(language, over={"prefix": ["de", "en"]}, count=count)
    runs = sweep(train, over={"rate": [0.5, 0.25]}, objective=maximize("accuracy"), corpus=merge(corpora))
    files = compare(runs.results, runs.best.model)
    with when(runs.best.accuracy > 0.7):
        publish(files, tokens)
