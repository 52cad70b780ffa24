"""`python -m benchmarks`: build the same pipelines with each tool, print the table, judge the limits.

Timings never fail: the exit code is 0 whatever was measured, and 1 only when a tool crashed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks import local, rows, shapes
from benchmarks.measure import versions
from benchmarks.report import as_data, limits, show
from benchmarks.tools import PEERS, TOOLS

ROOT = Path(__file__).absolute().parent.parent


def main() -> int:
    """Measure as the command line says and print the report; returns 1 if a tool crashed."""
    peers = ROOT / ".venv-bench" / "bin" / "python"
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--short", action="store_true", help="fewer repeats, nothing above 1000 tasks")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every number to this file")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="interpreter with flowdsl")
    for peer in PEERS:
        parser.add_argument(
            f"--{peer.name}-python", type=Path, default=peers, help=f"interpreter with {peer.name}"
        )
    chosen = parser.parse_args()
    given = {tool.name: f"{tool.name}_python" if tool in PEERS else "python" for tool in TOOLS}
    pythons: dict[str, Path] = {name: getattr(chosen, word).absolute() for name, word in given.items()}
    found = {tool.name: versions(pythons[tool.name], tool) for tool in TOOLS}
    plan = rows.short(pythons) if chosen.short else rows.full(pythons)
    results = rows.measure(plan, lambda name: _say(f"measuring: {name}"))
    judged = limits(results)
    tools = ", ".join(f"{tool} {version}" for tool, version in found.items())
    head = (
        f"{tools}\nCPU time, minimum of up to {plan.repeats} processes, one build each; "
        "flowdsl by its dearest form (straight lines or loop), the peers by their cheapest\n"
    )
    print(show(results, judged, head))
    runs, crashes = local.measure(
        pythons["flowdsl"],
        pythons["kfp"],
        short=chosen.short,
        progress=lambda name: _say(f"measuring: {name}"),
    )
    print(f"\n{local.show('runs on this machine, by the clock', runs)}")
    sizes, more = shapes.measure(
        pythons["flowdsl"], short=chosen.short, progress=lambda name: _say(f"measuring: {name}")
    )
    print(f"\n{local.show('what is four times as large', sizes)}")
    crashes += more
    print(*crashes, sep="\n", end="\n" if crashes else "")
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(as_data(results, judged, found), indent=2) + "\n")
    return 1 if results.crashes or crashes else 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
