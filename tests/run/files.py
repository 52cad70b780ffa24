"""Pipelines and manifests that several tests of `run` run, and how the texts of runs are read."""

from __future__ import annotations

import re

PIPELINE = """\
import sys
import time
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, approve, choice, minimize, pipeline, step, sweep, when

PYTHON = "python:3.12-slim"


class Mode(Enum):
    FAST = 1
    SLOW = 2


class Tried(NamedTuple):
    loss: float
    model: Path


@step(image=PYTHON)
def prepare(n: int) -> int:
    return n


@step(image=PYTHON)
def attempt(base: int, rate: float) -> Tried:
    if rate > 1:
        print("\\x1b[31mthe rate\\x1b[0m", rate)
        raise ValueError("too large")
    model = Path("model.txt")
    model.write_text(str(rate), encoding="utf-8")
    return Tried(base * rate, model)


@step(image=PYTHON)
def publish(model: Path, mode: Mode) -> str:
    print("publishing", mode.name)
    if mode is Mode.SLOW:
        time.sleep(0.5)
        sys.exit(4)
    return model.read_text(encoding="utf-8")


@step(image=PYTHON)
def never() -> None: ...


@pipeline
def search(n: int = 2, mode: Mode = Mode.FAST) -> str:
    base = prepare(n)
    runs = sweep(attempt, over={"rate": choice(0.5, 2.0, 0.25)}, objective=minimize("loss"), base=base)
    with when(base > 100):
        never()
    return publish(runs.best.model, mode)
"""

GATE = """\
from flowdsl import approve, pipeline, step


@approve()
def gate() -> str:
    raise NotImplementedError


@approve()
def door() -> None:
    raise NotImplementedError


@step(image="python:3.12-slim")
def tell(who: str) -> str:
    return f"hello {who}"


@pipeline
def asked() -> str:
    told = tell(gate())
    door.options(after=[told])()
    return told
"""

STEPS = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: hello-}
spec:
  entrypoint: main
  arguments:
    parameters:
    - {name: size, value: small, enum: [small, large]}
    - {name: seconds, value: "0"}
  templates:
  - name: main
    steps:
    - - name: say
        template: say
        arguments: {parameters: [{name: "n", value: "{{item}}"}]}
        withItems: [1, 2]
      - name: lib
        templateRef: {name: lib, template: shout}
    - - name: sleep
        template: sleep
  - name: say
    inputs: {parameters: [{name: "n"}]}
    container: {image: "alpine:3", command: [sh, -c], args: ["echo {{inputs.parameters.n}} > /tmp/x"]}
    outputs: {parameters: [{name: r, valueFrom: {path: /tmp/x}}]}
  - name: sleep
    container: {image: "alpine:3", command: [sleep, "{{workflow.parameters.seconds}}"]}
"""

LIBRARY = """\
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: lib}
spec:
  templates:
  - name: shout
    container: {image: "alpine:3", command: [sh, -c, "echo HEY"]}
"""


def rows(text: str) -> list[list[str]]:
    """The words of each line of a text, without times."""
    return [re.sub(r"\b\d+\.\ds\b", "", line).split() for line in text.splitlines()]


SERVED = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: served}
spec:
  entrypoint: main
  onExit: bye
  templates:
    - name: main
      steps:
        - [{name: server, template: server}]
        - [{name: first, template: first}]
        - [{name: ask, template: ask, arguments: {parameters: [{name: at, value: "{{steps.server.ip}}"}]}}]
    - {name: server, daemon: true, container: {image: "busybox:1.36", command: [sleep, "600"]}}
    - {name: first, container: {image: "busybox:1.36", command: [sh, -c, ":"]}}
    - name: ask
      inputs: {parameters: [{name: at}]}
      container: {image: "busybox:1.36", command: [sh, -c, "echo {{inputs.parameters.at}}; exit 3"]}
    - {name: bye, container: {image: "busybox:1.36", command: [sleep, "0.5"]}}
"""

NAMED = """
from flowdsl import pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE)
def load_rows(n: int) -> int:
    return n


@step(image=IMAGE)
def double(x: int) -> int:
    return 2 * x


@pipeline
def main() -> int:
    rows = load_rows(3)
    first = double(rows)
    second = double.options(name="again")(first)
    return second
"""

FLAGS = """
from typing import NamedTuple

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def good(n: int) -> bool:
    return n > 1


@step(image="python:3.12-slim")
def word(n: int) -> str | None:
    return "word" * n if n else None


@step(image="python:3.12-slim")
def digits(n: int) -> str:
    return str(n)


class Told(NamedTuple):
    flags: list[bool]
    words: list[str | None]
    digits: list[str]
    digit: str
    ratio: float


@pipeline
def told(ratio: float = 0.5) -> Told:
    flags = fan_out(good, over={"n": [1, 2]})
    words = fan_out(word, over={"n": [0, 1]})
    return Told(flags, words, fan_out(digits, over={"n": [1, 2]}), digits.options(name="digit")(7), ratio)
"""

SECRET = """
import os

from flowdsl import Secret, approve, pipeline, step


@step(image="python:3.12-slim", secrets={"TOKEN": Secret("hub", "token")})
def log_in(name: str) -> str:
    return name + str(len(os.environ["TOKEN"]))


@approve()
def gate() -> str:
    raise NotImplementedError


@pipeline
def logging_in() -> str:
    return log_in(gate())
"""
