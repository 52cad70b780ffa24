from pathlib import Path
from typing import NamedTuple

from flowdsl import GPU, Volume, choice, loguniform, maximize, pipeline, step, sweep, when

DATA = Volume("datasets", mode="ReadWriteMany")              # an existing claim; DATA / "raw" is a path on it


class Trained(NamedTuple):                                     # several outputs = one NamedTuple or dataclass
    model: Path                                                # Path: a file or folder, handed on as an artifact
    accuracy: float                                            # anything else: a parameter, handed on as JSON text


@step(image="python:3.12-slim", cpu=2, memory="4Gi")
def preprocess(raw: Path, min_length: int = 20) -> Path:
    out = Path("clean.txt")
    out.write_text("".join(l for l in raw.open() if len(l) >= min_length))
    return out


@step(image="pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime", gpu=GPU(1, product=["A100-SXM4-40GB", "H100"]), memory="32Gi",
      where="zone in (eu-1, eu-2)", retries=2, timeout="6h")
def train(corpus: Path, lr: float, layers: int = 2) -> Trained:
    model = Path("model.bin")
    model.write_text(f"{corpus.stat().st_size} {lr} {layers}")
    return Trained(model, 1.0 - lr)


@step(image="python:3.12-slim")
def publish(model: Path, accuracy: float) -> None:
    print(model.read_text(), accuracy)


@pipeline
def sentiment(min_accuracy: float = 0.9) -> None:
    corpus = preprocess(DATA / "raw/reviews.txt")
    runs = sweep(train, over={"lr": loguniform(1e-5, 1e-1), "layers": choice(1, 2, 4)}, trials=20, parallel=4,
                 objective=maximize("accuracy"), seed=7, corpus=corpus)
    with when(runs.best.accuracy > min_accuracy):
        publish(runs.best.model, runs.best.accuracy)
