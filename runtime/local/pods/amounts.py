"""The resources that pods request, and those of this machine."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from flowdsl.grammar.devices import is_gpu, vendor_of
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.quantity import quantity
from flowdsl.runtime.local.pods.groups import allowed
from flowdsl.runtime.local.pods.refusal import Refusal
from flowdsl.runtime.local.pods.slots import Amount
from flowdsl.runtime.parts import part

Json = dict[str, Any]
_GIB = 2**30


CPU, MEMORY, PORTS = "cpu", "memory", "ports"
"""The names of resources; those of GPUs are their vendors.

Units: thousandths of a core, bytes; PORTS is requested by pods that listen at fixed ports for others.
"""


def amount(bodies: Iterable[Json], meets: bool = False) -> Amount:
    """The sum over containers that run together, without zeros; `meets`: they request the ports.

    A limit without a request is one. Raises Refusal.
    """
    found: Amount = {PORTS: 1} if meets else {}
    for body in bodies:
        resources: Json = part(body, "resources")
        asked: Json = {**part(resources, "limits"), **part(resources, "requests")}
        for name, given in asked.items():
            try:
                kind, count = _asked(name, str(given))
            except GrammarError as error:
                raise Refusal(f"the resources of container {body['name']}: {error}") from None
            if count > 0:
                found[kind] = found.get(kind, 0) + count
    return found


@lru_cache(256)
def _asked(name: str, given: str) -> tuple[str, int]:
    """The resource and amount of a request; zero for a resource unknown to this machine. Raises GrammarError."""
    if name == CPU:
        return CPU, math.ceil(quantity(given) * 1000)
    if name == MEMORY:
        return MEMORY, math.ceil(quantity(given))
    if is_gpu(name):
        return vendor_of(name), int(quantity(given))
    return name, 0


def gpus(wanted: Amount) -> Amount:
    """The part of an amount that is GPUs."""
    return {name: count for name, count in wanted.items() if name not in (CPU, MEMORY, PORTS)}


def memory_limit(body: Json) -> float:
    """The memory limit of a container in bytes; 0 for none."""
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
    """The total of cores and bytes that pods may request."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    most = allowed()
    return (
        float(min(cores(), most.cpu) if cpu is None else cpu),
        float(min(size, most.memory) if memory is None else memory),
    )


_LISTING = {"nvidia": ("nvidia-smi", "-L"), "amd": ("rocm-smi", "--showid")}
"""The commands that list the GPUs of a vendor; GPUs of other vendors are not detected."""


def found_gpus(vendor: str) -> list[str]:
    """The GPUs of this machine, as named in the variable that restricts a program to some of them."""
    command = _LISTING.get(vendor)
    if command is None or shutil.which(command[0]) is None:
        return []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    if vendor == "amd":
        names = {line.partition("]")[0] for line in done.stdout.splitlines() if line.startswith("GPU[")}
        return [str(number) for number in range(len(names))]
    return [str(number) for number in range(sum(one.startswith("GPU ") for one in done.stdout.splitlines()))]


class Allocatable:
    """The resources that pods share: their total, and the free GPUs.

    `cpu`, `memory`, `gpus`: given totals, in place of those of the machine. `offer` is told the total of a resource
    before it is first requested.
    """

    def __init__(
        self,
        cpu: float | None,
        memory: int | None,
        gpus: int | None,
        offer: Callable[[Amount], None],
        notice: Callable[[str], None],
    ) -> None:
        self.given = cpu, memory
        self.given_gpus = gpus
        self.offer = offer
        self.notice = notice
        self.total: Amount = {}
        self.free: dict[str, list[str]] = {}

    def _look(self, wanted: Amount) -> None:
        """Determine the totals of resources that were not requested before."""
        found: Amount = {}
        if not self.total:
            cpu, memory = machine(*self.given)
            found = {CPU: math.floor(cpu * 1000), MEMORY: math.floor(memory), PORTS: 1}
        for vendor in gpus(wanted).keys() - self.total.keys():
            names = found_gpus(vendor) if self.given_gpus is None else list(map(str, range(self.given_gpus)))
            if not names:
                self.notice(f"this machine has no {vendor} GPU: steps that ask for one run without it")
            self.free[vendor] = names
            found[vendor] = len(names)
        if found:
            self.total |= found
            self.offer(found)

    def bounded(self, step: str, wanted: Amount) -> Amount:
        """An amount limited to the total: a step that requests more cores or memory gets all, and runs alone."""
        if all(count <= self.total.get(name, 0) for name, count in wanted.items()):
            return wanted
        self._look(wanted)
        found = dict(wanted)
        for vendor, count in gpus(wanted).items():
            there = self.total[vendor]
            if count > there > 0:
                self.notice(f"{step} asks for {count} GPUs, this machine has {there}: it gets these")
            found[vendor] = min(count, there)
        much: list[str] = []
        if wanted.get(CPU, 0) > self.total[CPU]:
            much.append(f"{wanted[CPU] / 1000:g} CPUs, this machine has {self.total[CPU] / 1000:g}")
        if wanted.get(MEMORY, 0) > self.total[MEMORY]:
            much.append(
                f"{wanted[MEMORY] / _GIB:.1f} GiB of memory, this machine has {self.total[MEMORY] / _GIB:.1f}"
            )
        if much:
            self.notice(f"{step} asks for {' and for '.join(much)}: it runs alone")
            found |= {CPU: self.total[CPU], MEMORY: self.total[MEMORY]}
        return {name: count for name, count in found.items() if count}

    def take(self, wanted: Amount) -> dict[str, list[str]]:
        """Allocate the GPUs of a pod that begins, by vendor."""
        return {
            vendor: [self.free[vendor].pop(0) for _ in range(count)] for vendor, count in gpus(wanted).items()
        }

    def give(self, taken: dict[str, list[str]]) -> None:
        """Free the GPUs of a pod that has ended."""
        for vendor, names in taken.items():
            self.free[vendor] = sorted(self.free[vendor] + names, key=lambda one: (len(one), one))
