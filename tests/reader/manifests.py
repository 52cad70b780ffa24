"""Large manifests, and what the emitter costs on them: `python -m tests.reader.manifests`."""

from __future__ import annotations

import json
import random
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.yaml.emit import emit_one

if TYPE_CHECKING:
    from collections.abc import Callable


def workflow(templates: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": "large-"},
        "spec": {"entrypoint": "main", "templates": templates},
    }


def tasks(count: int = 1000, scripts: int = 20, lines: int = 60) -> dict[str, Any]:
    """A DAG of `count` tasks with two arguments each, and `scripts` templates of `lines` lines of Python."""
    dag = [
        {
            "name": f"train-{index}",
            "template": f"step-{index % scripts}",
            "depends": "prep",
            "arguments": {
                "parameters": [
                    {"name": "lr", "value": repr(index / 1000)},
                    {"name": "corpus", "value": "{{tasks['prep'].outputs.parameters['return']}}"},
                ]
            },
        }
        for index in range(count)
    ]
    head = ["from __future__ import annotations", "", "def train(corpus: str, lr: float) -> float:"]
    steps = [
        {
            "name": f"step-{number}",
            "inputs": {"parameters": [{"name": "lr"}, {"name": "corpus"}]},
            "outputs": {"parameters": [{"name": "return", "valueFrom": {"path": "/tmp/out/return"}}]},
            "script": {
                "image": "python:3.12-slim",
                "command": ["python3"],
                "env": [{"name": "FLOWDSL_lr", "value": "{{inputs.parameters.lr}}"}],
                "resources": {"limits": {"cpu": "2", "memory": "4Gi"}},
                "source": "\n".join(
                    [*head, *(f"    x{row} = f'{{lr * {number + row}}}'  # {row}" for row in range(3, lines))]
                )
                + "\n",
            },
        }
        for number in range(scripts)
    ]
    return workflow([{"name": "main", "dag": {"tasks": dag}}, *steps])


def sweep(points: int = 10_000) -> dict[str, Any]:
    """A loop over `points` small maps."""
    draw = random.Random(7)
    rows = [
        {"i": f"/{index}", "lr": repr(10 ** draw.uniform(-5, -1)), "optimizer": draw.choice(["adam", "sgd"])}
        for index in range(points)
    ]
    loop = {"name": "trial", "template": "trial", "withItems": rows}
    return workflow([{"name": "main", "dag": {"tasks": [loop]}}])


def least(functions: list[Callable[[], object]], runs: int) -> list[float]:
    """The least CPU seconds of each function, called in turns."""
    found = [float("inf")] * len(functions)
    for _ in range(runs):
        for number, function in enumerate(functions):
            start = time.process_time()
            function()
            found[number] = min(found[number], time.process_time() - start)
    return found


def main() -> None:
    for name, manifest in (("1000 tasks", tasks()), ("10000 points", sweep())):
        emitted, dumped = least([partial(emit_one, manifest), partial(json.dumps, manifest)], runs=100)
        times = f"emit {emitted * 1000:.2f} ms, json.dumps {dumped * 1000:.2f} ms"
        sys.stdout.write(f"{name}: {times}, ratio {emitted / dumped:.2f}\n")


if __name__ == "__main__":
    main()
