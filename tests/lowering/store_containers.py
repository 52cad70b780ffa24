"""Steps in any language find the folder that their files go to, and read paths on the volume."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, command, container, fan_out, output, pipeline

DATA = Volume("datasets")


class Measured(NamedTuple):
    plot: Path
    score: float


@container(image="busybox")
def fetch(address: str) -> Path:
    command("wget", "-O", output(), address)


@container(image="tools/measure")
def measure(data: Path, digits: int = 3) -> Measured:
    command(
        "/bin/measure", f"--digits={digits}", data, env={"PLOT": output("plot"), "SCORE": output("score")}
    )


@pipeline(store=DATA)
def store_containers() -> list[Measured]:
    data = fetch("https://example.com/data.csv")
    return fan_out(measure, over={"digits": [1, 2]}, data=data)
