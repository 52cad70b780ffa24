import os
import sys
from contextlib import suppress
from pathlib import Path

from flowdsl import Torch, Volume, pipeline, step


@step(image="python:3.12-slim")
def resume(done: bool) -> int:
    if done:
        print("nothing to do")
        return 0
    if sys.version_info < (3, 12):
        sys.exit(1)
    try:
        sys.exit(0)
    except SystemExit:
        return 1


@step(image="python:3.12-slim")
def clean(text: str) -> Path | None:
    if not text:
        raise SystemExit
    at = Path("/tmp/clean.txt")
    at.write_text(text)
    return at


@step(image="python:3.12-slim")
def count(text: str) -> None:
    if not text:
        sys.exit()
    print(len(text))


@step(image="python:3.12-slim", distributed=Torch(workers=2), store=Volume("runs"))
def train(epochs: int) -> float:
    if os.environ["RANK"] != "0":
        sys.exit(0)
    return 1 / epochs


@step(image="python:3.12-slim")
def measure(text: str) -> int:
    child = os.fork()
    if child == 0:
        print("in a process of its own")
        os._exit(0)
    os.waitpid(child, 0)
    return len(text)


@step(image="python:3.12-slim")
def convert(text: str) -> int:
    with suppress(SystemExit):
        sys.exit(0)
    return len(text)


@pipeline
def nightly(text: str = "a b") -> None:
    resume(done=True)
    clean(text)
    count(text)
    train(3)
    measure(text)
    convert(text)
