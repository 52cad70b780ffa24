"""Steps that stop early, as a program would, and leave the tasks behind them without a value."""

import os
import sys
from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def resume(done: bool) -> int:
    if done:
        print("nothing to do")
        sys.exit(0)
    return 1


@step(image="python:3.12-slim")
def clean(text: str) -> Path:
    if not text:
        raise SystemExit
    at = Path("/tmp/clean.txt")
    at.write_text(text)
    return at


@step(image="python:3.12-slim")
def count(text: str) -> int | None:
    for one in text:
        if one == " ":
            os._exit(0)
    return len(text)


@pipeline
def nightly(text: str = "a b") -> None:
    resume(done=True)
    clean(text)
    count(text)
