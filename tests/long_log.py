"""A program that reads one long log and says how much memory it took: `python -m tests.long_log MEGABYTES STEP LINE`.

The log goes to standard output, the peak of the memory in MB to standard error. STEP is how many nanoseconds there
are between two lines, LINE how long they are; longer ones than 10000 end with carriage returns only.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flowdsl.cli.display.streaming import Style, Writer
from flowdsl.runtime.cluster.policy import Policy
from flowdsl.runtime.logs.container import Extent, read
from flowdsl.runtime.logs.join import nanoseconds
from flowdsl.runtime.logs.source import Place, Source
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.runtime.cluster.seam import Cluster, Excerpt

BEGIN = nanoseconds(b"2026-11-21T12:00:00Z")
SOURCE = Source(Place(("a",)), "a", "a", "a", "main")


class Endless:
    """A cluster of one pod with a log of a given size."""

    policy = Policy()

    def __init__(self, size: int, step: int, line: int) -> None:
        self.size, self.step = size, step
        self.text = b"x" * line + (b"\n" if line < 10_000 else b"\r")

    def get(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"metadata": {"uid": ""}, "status": {"phase": "Succeeded"}}

    def log(self, pod: str, container: str, excerpt: Excerpt, **_: Any) -> Iterator[bytes]:
        least = nanoseconds(excerpt.since.encode()) if excerpt.since else 0
        if self.text.endswith(b"\r"):
            yield stamped(BEGIN)
            for _number in range(self.size // len(self.text)):
                yield self.text
            return
        piece = bytearray()
        for number in range(self.size // (len(self.text) + 31)):
            if BEGIN + number * self.step >= least:
                piece += stamped(BEGIN + number * self.step) + self.text
                if len(piece) > 1 << 16:
                    yield bytes(piece)
                    piece.clear()
        yield bytes(piece)


def stamped(time: int) -> bytes:
    second, rest = divmod(time, 10**9)
    return f"{rfc3339(second)[:-1]}.{rest:09d}Z ".encode()


def main(megabytes: int, step: int, line: int) -> None:
    cluster = cast("Cluster", Endless(megabytes << 20, step, line))
    writer = Writer(Style())
    for parts in read(cluster, SOURCE, Extent()):
        writer.write(SOURCE, parts)
    writer.close()
    (peak,) = (line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    sys.stderr.write(f"{int(peak.split()[1]) // 1024}\n")


def peak_of_a_log(megabytes: int, step: int, line: int) -> int:
    """The peak memory, in MB, of a process that reads such a log."""
    command = [sys.executable, "-m", "tests.long_log", str(megabytes), str(step), str(line)]
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return int(done.stderr)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
