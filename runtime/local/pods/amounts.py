"""What pods ask of the machine, and which of them may run at a time."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from collections import Counter, deque
from collections.abc import Callable, Iterable
from itertools import islice, takewhile
from typing import Any, NamedTuple

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.quantity import quantity
from flowdsl.runtime.local.pods.groups import allowed
from flowdsl.runtime.local.pods.refusal import Refusal
from flowdsl.runtime.local.shapes import part

Json = dict[str, Any]
_GIB = 2**30
_CLOSE = 1e-6
"""Sums that differ by so little are the same."""


class Amount(NamedTuple):
    """CPU in cores, memory in bytes, GPUs, and whose GPUs they are.

    `meets`: its containers listen at known ports for each other, so others of that kind wait.
    """

    cpu: float = 0.0
    memory: float = 0.0
    gpus: int = 0
    vendor: str = ""
    meets: bool = False

    @property
    def place(self) -> str:
        """What one that has ended leaves to one that asks for the same; empty where it is more than an amount."""
        asks = (self.cpu or self.memory) and not (self.gpus or self.meets)
        return f"{self.cpu}/{self.memory}" if asks else ""


def amount(bodies: Iterable[Json], meets: bool = False) -> Amount:
    """The sum over containers that run together. A limit without a request is one. Raises Refusal."""
    cpu = memory = 0.0
    gpus, vendor = 0, ""
    for body in bodies:
        resources: Json = part(body, "resources")
        if not resources:
            continue
        limits: Json = part(resources, "limits")
        asked: Json = {**limits, **part(resources, "requests")}
        try:
            cpu += float(quantity(str(asked.get("cpu", 0))))
            memory += float(quantity(str(asked.get("memory", 0))))
            for name, count in asked.items():
                if name.endswith("/gpu") or name.startswith("nvidia.com/mig-"):
                    gpus += int(quantity(str(count)))
                    vendor = name.partition(".")[0]
        except GrammarError as error:
            raise Refusal(f"the resources of container {body['name']}: {error}") from None
    return Amount(cpu, memory, gpus, vendor, meets)


def memory_limit(body: Json) -> float:
    """The most bytes that a container may use; 0 for no limit."""
    limits = part(part(body, "resources"), "limits")
    try:
        return float(quantity(str(limits.get("memory", 0))))
    except GrammarError:
        return 0.0


def cores() -> int:
    """The cores that this process may use."""
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return math.ceil(min(known, allowed().cpu))


def machine(cpu: float | None, memory: int | None) -> tuple[float, float]:
    """The cores and bytes that pods may ask for in total."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    most = allowed()
    return (
        float(min(cores(), most.cpu) if cpu is None else cpu),
        float(min(size, most.memory) if memory is None else memory),
    )


def found_gpus(vendor: str) -> list[str]:
    """The GPUs of this machine, as the variable that hides the others names them."""
    command = ["rocm-smi", "--showid"] if vendor == "amd" else ["nvidia-smi", "-L"]
    if shutil.which(command[0]) is None:
        return []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    if vendor == "amd":
        names = {line.partition("]")[0] for line in done.stdout.splitlines() if line.startswith("GPU[")}
        return [str(number) for number in range(len(names))]
    return [str(number) for number in range(sum(one.startswith("GPU ") for one in done.stdout.splitlines()))]


class Slots:
    """Who may run: pods in their order; one that asks for more than the machine has runs alone."""

    def __init__(
        self, cpu: float | None, memory: int | None, gpus: int | None, notice: Callable[[str], None]
    ) -> None:
        self.given = cpu, memory
        self.totals: tuple[float, float] | None = None
        self.given_gpus = gpus
        self.notice = notice
        self.gpus: dict[str, list[str]] = {}
        self.free_gpus: dict[str, list[str]] = {}
        self.running: dict[str, tuple[Amount, list[str]]] = {}
        self.cpu = self.memory = 0.0  # what runs has asked for
        self.alike: Counter[Amount] = Counter()  # how many run that ask for the same
        self.waiting: deque[tuple[str, str, Amount]] = deque()

    def ask(self, node: str, step: str, wanted: Amount) -> list[tuple[str, list[str]]]:
        """A pod of a step wants to run; those that may start now, with their GPUs. Who asks for nothing passes all."""
        if wanted.gpus and wanted.vendor not in self.gpus:
            found = found_gpus(wanted.vendor)
            if self.given_gpus is not None:
                found = [str(number) for number in range(self.given_gpus)]
            if not found:
                self.notice(
                    f"This machine has no GPU of {wanted.vendor or 'this kind'}: steps that ask for one run without."
                )
            self.gpus[wanted.vendor] = found
            self.free_gpus[wanted.vendor] = list(found)
        if wanted.gpus > len(self.gpus.get(wanted.vendor, ())) > 0:
            self.notice(
                f"{step} asks for {wanted.gpus} GPUs, this machine has {len(self.gpus[wanted.vendor])}: it gets these."
            )
        if wanted.gpus:
            wanted = wanted._replace(gpus=min(wanted.gpus, len(self.gpus[wanted.vendor])))
        if not (wanted.cpu or wanted.memory or wanted.gpus or wanted.meets):
            return [(node, [])]
        self.waiting.append((node, step, wanted))
        return self.next()

    def drop(self, node: str) -> bool:
        """A pod does not want to run any more; whether it was waiting."""
        before = len(self.waiting)
        self.waiting = deque(one for one in self.waiting if one[0] != node)
        return len(self.waiting) < before

    def end(self, node: str) -> list[tuple[str, list[str]]]:
        """A pod has ended; those that may start now."""
        wanted, gpus = self.running.pop(node, (Amount(), []))
        self.cpu, self.memory = self.cpu - wanted.cpu, self.memory - wanted.memory
        self.alike[wanted] -= 1
        if gpus:
            self.free_gpus[wanted.vendor] += gpus
            self.free_gpus[wanted.vendor].sort(key=lambda one: (len(one), one))
        return self.next()

    def next(self) -> list[tuple[str, list[str]]]:
        """Start from the front, as many as there is room for."""
        started: list[tuple[str, list[str]]] = []
        while self.waiting and self.fits(*self.waiting[0][1:]):
            node, _, wanted = self.waiting.popleft()
            gpus = [self.free_gpus[wanted.vendor].pop(0) for _ in range(wanted.gpus)]
            self.running[node] = wanted, gpus
            self.cpu, self.memory = self.cpu + wanted.cpu, self.memory + wanted.memory
            self.alike[wanted] += 1
            started.append((node, gpus))
        return started

    def in_line(self, most: int) -> list[str]:
        """The first that wait, if each can begin in the place of any that runs: all ask for the same."""
        first = self.waiting[0][2] if self.waiting else Amount()
        if not first.place or self.alike[first] != len(self.running):
            return []
        return [node for node, _, _ in takewhile(lambda one: one[2] == first, islice(self.waiting, most))]

    def fits(self, step: str, wanted: Amount) -> bool:
        """Whether there is room for one more."""
        if self.totals is None:
            self.totals = machine(*self.given)
        cores, size = self.totals
        if wanted.meets and any(one.meets for one, _ in self.running.values()):
            return False
        if len(self.free_gpus.get(wanted.vendor, ())) < wanted.gpus:
            return False
        if wanted.cpu > cores or wanted.memory > size:
            if self.cpu > _CLOSE or self.memory > _CLOSE:
                return False
            much = [f"{wanted.cpu:g} CPUs, this machine has {cores:g}"] if wanted.cpu > cores else []
            if wanted.memory > size:
                much.append(f"{wanted.memory / _GIB:.1f} GiB of memory, this machine has {size / _GIB:.1f}")
            self.notice(f"{step} asks for {' and for '.join(much)}: it runs alone.")
            return True
        return self.cpu + wanted.cpu <= cores + _CLOSE and self.memory + wanted.memory <= size + _CLOSE
