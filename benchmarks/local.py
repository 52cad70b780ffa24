"""Runs on this machine: what they cost beside bare processes, and beside the local runs of KFP and Metaflow.

Here the clock counts, not CPU time: a run waits for its processes. Each number is the best of several, for the no-op
steps their median, because of these the best varies by a half; what is compared takes turns.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

COMMANDS = 200
NODES = (2500, 10_000)
PARALLEL = (1, 2, 4, COMMANDS)
BOUNDS = ("cores", "parallelism")
"""What limits how many pods run at a time: their resource requests, or `parallelism` of the manifest."""


class Line(NamedTuple):
    """One line of the table: what was measured, its numbers, and its bound."""

    name: str
    numbers: str
    ratio: float | None
    bound: float | None

    @property
    def verdict(self) -> str:
        """`ok`, `MISSED` or `not measured`; empty without a bound."""
        if self.bound is None:
            return ""
        return "not measured" if self.ratio is None else "ok" if self.ratio <= self.bound else "MISSED"


_NOOP = """
import json, statistics, subprocess, sys, tempfile, time
from pathlib import Path
from flowdsl.cli import collect_seldom
from flowdsl.runtime.local.pods.pods import Pods
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.runner import Inputs, Runner

def manifest(count, said):
    container = {"image": "busybox:1.36", "command": ["sh", "-c", ":"]}
    if not said:
        container["resources"] = {"requests": {"cpu": "1"}}
    step = {"name": "noop", "container": container}
    task = {"name": "each", "template": "noop", "withSequence": {"count": str(count)}}
    main = {"name": "main", "dag": {"tasks": [task]}}
    spec = {"entrypoint": "main", "templates": [main, step], **said}
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "noops"}, "spec": spec}

def run(count, parallel, bound):
    said = {"parallelism": parallel} if bound == "parallelism" else {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name) / "run"
        settings = Settings(workflow="noops", cpu=parallel, memory=1 << 40)
        start = time.perf_counter()
        machine = Runner(folder, lambda report: Pods(folder, report, settings)).begin(
            Inputs(manifest(count, said), [], {}, {})
        )
        taken = time.perf_counter() - start
    assert machine.phase == "Succeeded", machine.message
    return taken

def bare(count, parallel):
    start = time.perf_counter()
    running, begun = [], 0
    while begun < count or running:
        while begun < count and len(running) < parallel:
            running.append(subprocess.Popen(["sh", "-c", ":"]))
            begun += 1
        running.pop(0).wait()
    return time.perf_counter() - start

count, parallel, rounds = map(int, sys.argv[1:4])
bound = sys.argv[4]
collect_seldom()
run(4, 2, bound), bare(4, 2)
pairs = [(run(count, parallel, bound), bare(count, parallel)) for _ in range(rounds)]
found = [statistics.median(one) for one in zip(*pairs)]
print(json.dumps(found))
"""

_CONTROL = """
import json, sys, time
from flowdsl.cli import collect_seldom
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.machine import Machine

def manifest(count):
    half = count // 2
    skipped = {"name": "skipped", "template": "wait", "when": "false", "withSequence": {"count": str(half)}}
    waits = {"name": "waits", "template": "wait", "depends": "skipped", "withSequence": {"count": str(count - half)}}
    templates = [{"name": "main", "dag": {"tasks": [skipped, waits]}}, {"name": "wait", "suspend": {"duration": "0"}}]
    spec = {"entrypoint": "main", "templates": templates}
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "control"}, "spec": spec}

def walk(count):
    machine = Machine(manifest(count))
    start = time.process_time()
    now, pending = 1.0, [events.Started(1.0)]
    while pending:
        for action in machine.handle(pending.pop()):
            if isinstance(action, events.WakeAt):
                now = max(now, action.at)
                pending.append(events.Woken(now))
    assert machine.phase == "Succeeded", machine.message
    return time.process_time() - start

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:"))

small, large, rounds = map(int, sys.argv[1:4])
collect_seldom()
walk(100)
best = [min(one) for one in zip(*[(walk(small), walk(large)) for _ in range(rounds)])]
print(json.dumps([*best, peak()]))
"""

_FLOWDSL = """from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def add(x: int) -> int:
    return x + 1


@pipeline
def chain() -> int:
    value = add(0)
    for _ in range({more}):
        value = add(value)
    return value
"""

_KFP = """
from kfp import dsl, local

local.init(runner=local.SubprocessRunner(use_venv=False), pipeline_root="out", raise_on_error=True)

@dsl.component
def add(x: int) -> int:
    return x + 1

@dsl.pipeline
def chain() -> int:
    value = add(x=0)
    for _ in range({more}):
        value = add(x=value.output)
    return value.output

assert chain().output == {steps}
"""


def _metaflow(steps: int) -> str:
    lines = ["from metaflow import FlowSpec, step", "", "class Chain(FlowSpec):"]
    names = ["start", *(f"add{number}" for number in range(steps - 2)), "end"]
    for position, name in enumerate(names):
        value = "self.x = 1" if not position else "self.x += 1"
        after = f"self.next(self.{names[position + 1]})" if name != "end" else "pass"
        lines += ["    @step", f"    def {name}(self):", f"        {value}", f"        {after}"]
    return "\n".join([*lines, "", "Chain()", ""])


def measure(
    python: Path, peers: Path, *, short: bool, progress: Callable[[str], None]
) -> tuple[list[Line], list[str]]:
    """The lines, and the text of every crash."""
    lines: list[Line] = []
    crashes: list[str] = []
    rounds = 2 if short else 7
    for bound, parallel in itertools.product(BOUNDS, PARALLEL):
        name = f"{COMMANDS} no-op shell steps, {parallel} at once, by {bound}"
        progress(name)
        asked: list[int | str] = [COMMANDS, parallel, 4 * rounds, bound]  # more rounds, since short ones vary
        found = child(python, _NOOP, asked, crashes, name)
        lines.append(_compared(name, found, "run", "bare processes", 1.5))
    name = f"walk {NODES[1]:,} nodes of pure control"
    progress(name)
    found = child(python, _CONTROL, [*NODES, rounds], crashes, name)
    ratio = None if found is None else found[1] / found[0]
    numbers = "" if found is None else f"{found[1] * 1000:.0f} ms, {found[0] * 1000:.0f} ms of {NODES[0]:,}"
    lines.append(Line(name, numbers, ratio, 4.4))
    lines.append(
        Line(
            "  its peak, of 300 MiB",
            "" if found is None else f"{found[2]:.0f} MiB",
            None if found is None else found[2] / 300,
            1.0,
        )
    )
    steps, rounds = (4, 1) if short else (20, 3)
    progress(f"a chain of {steps} steps, run here")
    own, others = _chains(python, peers, steps, rounds, crashes)
    for peer, seconds in others.items():
        ratio = None if own is None or seconds is None else own / seconds
        numbers = "" if own is None or seconds is None else f"flowdsl run {own:.1f} s, {peer} {seconds:.1f} s"
        lines.append(Line(f"chain of {steps} Python steps, beside {peer}", numbers, ratio, None))
    return lines, crashes


def show(title: str, lines: list[Line]) -> str:
    """The table as text."""
    rows = [(title, "", "ratio", "bound", "")]
    for line in lines:
        ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
        bound = "" if line.bound is None else f"<= {line.bound:g}"
        rows.append((line.name, line.numbers, ratio, bound, line.verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _compared(name: str, found: list[float] | None, one: str, other: str, bound: float) -> Line:
    if found is None:
        return Line(name, "", None, bound)
    numbers = f"{one} {found[0] * 1000:.0f} ms, {other} {found[1] * 1000:.0f} ms"
    return Line(name, numbers, found[0] / found[1], bound)


def child(
    python: Path, source: str, arguments: list[int | str], crashes: list[str], name: str
) -> list[float] | None:
    """The numbers that a program prints; None if it crashed, with its error added to `crashes`."""
    done = subprocess.run(
        [python, "-c", source, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        crashes.append(f"{name}: {done.stderr[-500:]}")
        return None
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _chains(
    python: Path, peers: Path, steps: int, rounds: int, crashes: list[str]
) -> tuple[float | None, dict[str, float | None]]:
    """The seconds of the whole command of each tool for the same chain of Python steps."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "chain.py").write_text(_FLOWDSL.format(more=steps - 1))
        (folder / "kfp_chain.py").write_text(_KFP.format(more=steps - 1, steps=steps))
        (folder / "metaflow_chain.py").write_text(_metaflow(steps))
        commands = {
            "flowdsl": [python, "-m", "flowdsl.cli", "run", "--quiet", "chain.py"],
            "KFP": [peers, "kfp_chain.py"],
            "Metaflow": [peers, "metaflow_chain.py", "--quiet", "run"],
        }
        environment = {**os.environ, "HOME": name, "METAFLOW_HOME": name, "USERNAME": "bench"}
        for _ in range(rounds):
            for tool, command in commands.items():
                if seconds := _timed([str(part) for part in command], folder, environment, crashes, tool):
                    best[tool] = min(best.get(tool, seconds), seconds)
    return best.get("flowdsl"), {peer: best.get(peer) for peer in ("KFP", "Metaflow")}


def _timed(
    command: list[str], folder: Path, environment: dict[str, str], crashes: list[str], tool: str
) -> float | None:
    from time import perf_counter

    start = perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    seconds = perf_counter() - start
    if done.returncode:
        crashes.append(f"chain, {tool}: {(done.stderr or done.stdout)[-500:]}")
        return None
    return seconds
