"""The pipeline `train_reviews`."""

from pathlib import Path
from typing import Literal, NamedTuple

from flowdsl import Retry, Volume, command, container, otherwise, pipeline, run, when

REVIEWS = Volume("reviews")


@container(image="busybox:1.37.0", memory="1Gi", cpu="500m")
def clean(min_length: int) -> Path:
    source = r"""
        # too short lines say nothing
        printf 'short\na review that is long enough to be kept\n' > /tmp/raw.txt
        awk -v n="$MIN_LENGTH" 'length >= n' /tmp/raw.txt > /tmp/corpus.txt
    """
    return command(
        "sh",
        source=source,
        env={"MIN_LENGTH": min_length},
        paths={"return": "/tmp/corpus.txt"},
    )


class TrainOutputs(NamedTuple):
    accuracy: float
    model: Path


@container(
    image="python:3.12-slim",
    env={"LOG_LEVEL": "info"},
    memory="8Gi",
    gpu=1,
    retries=Retry(2, wait="30s", factor=2),
    timeout="6h",
    node={"disk": "ssd"},
)
def train(corpus: Path, optimizer: Literal["adam", "sgd"]) -> TrainOutputs:
    source = r"""
        import os
        optimizer = os.environ["OPTIMIZER"]
        with open("/data/corpus.txt") as corpus:
            lines = corpus.readlines()
        with open("/tmp/model.bin", "w") as model:
            model.write(f"{optimizer}: {len(lines)}\n")
        with open("/tmp/accuracy.txt", "w") as accuracy:
            accuracy.write("0.95")
    """
    return command(
        "python3",
        source=source,
        env={"OPTIMIZER": optimizer},
        paths={
            "corpus": "/data/corpus.txt",
            "accuracy": "/tmp/accuracy.txt",
            "model": "/tmp/model.bin",
        },
    )


@container(image="busybox:1.37.0", mounts={"/reviews": REVIEWS / "models"})
def publish(accuracy: float, model: Path) -> None:
    command(
        "sh",
        "-c",
        "cat /tmp/model.bin && echo $ACCURACY",
        env={"ACCURACY": accuracy},
        paths={"model": "/tmp/model.bin"},
    )


@container(image="busybox:1.37.0")
def say(message: str) -> None:
    command("echo", message)


@pipeline(
    labels={"team": "search"},
    timeout=43200,
    ttl=259200,
    service_account="pipelines",
)
def train_reviews(
    min_length: int = 20,
    min_accuracy: float = 0.9,
    optimizer: Literal["adam", "sgd"] = "adam",
) -> None:
    clean_ = clean(min_length=min_length)
    train_ = train(corpus=clean_, optimizer=optimizer)
    with when(train_.accuracy >= min_accuracy):
        publish(accuracy=train_.accuracy, model=train_.model)
    with otherwise():
        say.options(name="complain")(message=f"only {train_.accuracy} in {run.name}")
