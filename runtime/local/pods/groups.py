"""The cgroup limits of this process, which in a container may be lower than what the machine has.

Source: Linux, admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst and scheduler/sched-bwc.rst.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

from flowdsl.grammar.named import NamedTuple

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")


class Allowed(NamedTuple):
    """Cores, and bytes of memory; infinite without a limit."""

    cpu: float
    memory: float


@cache
def allowed() -> Allowed:
    """The lowest limits of the cgroups of this process and their parents; read once."""
    found = Allowed(math.inf, math.inf)
    for line in _text(OWN).splitlines():
        _, controllers, path = line.split(":", 2)
        base = ROOT / controllers
        at = base / path.lstrip("/")
        for folder in (at, *at.parents):
            if folder.is_relative_to(base):  # in a container the path may be one of the machine
                found = Allowed(min(found.cpu, _cpu(folder)), min(found.memory, _memory(folder)))
    return found


def _cpu(folder: Path) -> float:
    words = _text(folder / "cpu.max").split()
    words = words or [_text(folder / f"cpu.cfs_{one}_us") for one in ("quota", "period")]
    quota, period = (_number(one) for one in words)
    return quota / period if math.isfinite(quota) and quota > 0 else math.inf


def _memory(folder: Path) -> float:
    return _number(_text(folder / "memory.max") or _text(folder / "memory.limit_in_bytes"))


def _number(text: str) -> float:
    return float(text) if text.strip().removeprefix("-").isdecimal() else math.inf


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
