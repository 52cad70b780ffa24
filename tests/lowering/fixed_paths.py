"""Files at the paths that a program has for them."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Http, Scratch, command, container, either, fan_out, output, pipeline, run, when


class Trained(NamedTuple):
    model: Path
    loss: float


@container(image="busybox:1.37.0", mounts={"/work": Scratch()})
def train(corpus: Path, base: Path | None = None, rate: float = 0.1) -> Trained:
    return command(
        "/opt/train",
        "--rate",
        rate,
        "--corpus",
        corpus,
        "--loss",
        output("loss"),
        paths={
            "corpus": "/data/corpus/",
            "base": "/opt/base.bin",
            "model": "/work/model",
            "loss": "/tmp/loss",
        },
    )


@container(image="busybox:1.37.0")
def tidy(folder: Path) -> Path:
    return command("git", "clean", paths={"folder": "/src", "return": "/src"})


@container(image="busybox:1.37.0", mounts={"/work": Scratch()})
def tune(model: Path) -> Trained:
    return command("/opt/tune", model, output("model"), paths={"model": "/work/model", "loss": "/work/loss"})


@container(image="busybox:1.37.0")
def export(day: str, part: int) -> Trained:
    folder = f"/out/{day}/{part}"
    return command(
        "/opt/export",
        env={"FOLDER": folder, "MODEL": output("model")},
        paths={"model": f"{folder}/{run.name}.bin", "loss": f"{folder}/loss"},
    )


@pipeline
def fixed_paths() -> None:
    corpus = Http("https://example.com/corpus.txt")
    first = train(corpus)
    second = train(tidy(first.model), base=first.model)
    with when(second.loss > 0.5):
        third = train(corpus, rate=0.2)
    tidy.options(name="last")(either(third.model, tune(second.model).model))
    export("monday", 2)
    fan_out(train.options(name="more"), over={"rate": [0.3, 0.4]}, corpus=corpus)
