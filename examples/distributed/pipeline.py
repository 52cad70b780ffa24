"""One training on several pods: each has a part of the data, and all agree on the model after every step.

`Torch` gives each process the variables by which the processes of PyTorch meet. A step that has it would say
`torch.distributed.init_process_group()`, and leave the rest to it; here sockets do, so that it runs everywhere.
"""

import os
import time
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import NamedTuple

from flowdsl import Torch, Volume, pipeline, step, when

PYTHON = "python:3.12-slim"
SHARED = Volume("shared", mode="ReadWriteMany")


class Trained(NamedTuple):
    model: Path
    error: float


@step(image=PYTHON)
def prepare(points: int) -> Path:
    """Points of a line, on the volume where all workers find them."""
    corpus = Path("corpus.csv")
    corpus.write_text(
        "".join(f"{x / points},{3 * x / points + 1}\n" for x in range(points)), encoding="utf-8"
    )
    return corpus


def meet() -> list[Connection]:
    """The connections of a process: of the first one to all others, of these to the first."""
    address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    if os.environ["RANK"] == "0":
        with Listener(("", address[1]), backlog=64) as door:
            return [door.accept() for _ in range(int(os.environ["WORLD_SIZE"]) - 1)]
    while True:
        try:
            return [Client(address)]
        except ConnectionRefusedError:
            time.sleep(0.1)


def mean(values: list[float], peers: list[Connection]) -> list[float]:
    """The means of the values of all processes, in each of them."""
    if os.environ["RANK"] != "0":
        peers[0].send(values)
        found: list[float] = peers[0].recv()
        return found
    rows = [values, *(peer.recv() for peer in peers)]
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    for peer in peers:
        peer.send(means)
    return means


@step(image=PYTHON, cpu=0.1, distributed=Torch(workers=3), timeout="1h")
def train(corpus: Path, rate: float, epochs: int) -> Trained:
    """What the process of rank 0 returns is the result."""
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    lines = corpus.read_text(encoding="utf-8").splitlines()[rank::size]
    points = [(float(x), float(y)) for x, y in (line.split(",") for line in lines)]
    peers = meet()
    slope = offset = error = 0.0
    for _ in range(epochs):
        misses = [(slope * x + offset - y, x) for x, y in points]
        own = [
            sum(miss * x for miss, x in misses),
            sum(miss for miss, _ in misses),
            sum(m * m for m, _ in misses),
        ]
        steps = mean([value / len(points) for value in own], peers)
        slope, offset, error = slope - rate * steps[0], offset - rate * steps[1], steps[2]
    print(f"rank {rank} of {size}: y = {slope:.2f} x + {offset:.2f}")
    model = Path("model.txt")
    model.write_text(f"{slope} {offset}\n", encoding="utf-8")
    return Trained(model, error)


@step(image=PYTHON)
def publish(model: Path, error: float) -> None:
    print("published", model.read_text(encoding="utf-8").strip(), "with an error of", error)


@pipeline(store=SHARED / "runs", service_account="trainer")
def distributed(points: int = 300, rate: float = 0.5, epochs: int = 200, most: float = 0.01) -> float:
    corpus = prepare(points)
    trained = train(corpus, rate, epochs)
    with when(trained.error < most):
        publish(trained.model, trained.error)
    return trained.error
