"""Runs made-up workflows here and by Argo's own controller, and prints where the two differ.

`python -m tests.controller path/to/argo-workflows [--count N] [--seed N]`: the seeds from this one on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.controller.argo import Controller, Gone, built
from tests.controller.cases import made_up
from tests.controller.compare import Case, Refused, differences
from tests.controller.smallest import smallest

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

MOST = 12  # lines about one workflow


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.controller", description=__doc__)
    parser.add_argument("checkout", type=Path, help="argo-workflows at the tag v4.1.2")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smallest", action="store_true", help="take out what does not matter")
    asked = parser.parse_args()
    told: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        controller = Controller(built(asked.checkout, Path(folder)))
        for seed in range(asked.seed, asked.seed + asked.count):
            case = made_up(seed)
            try:
                found = differences(controller, case)
                told["differ" if found else "are the same"] += 1
            except Refused:
                told["are refused by Argo"] += 1
                continue
            except Gone:  # `flowdsl check` reports that (FD803); here there is no controller that could crash
                told["end Argo's controller"] += 1
                continue
            if found:
                if asked.smallest:
                    case = case._replace(manifest=smallest(case.manifest, like(controller, case, found)))
                    found = differences(controller, case) or found
                sys.stdout.write(shown(seed, case, found))
        controller.close()
    counted = ", ".join(f"{count} {what}" for what, count in sorted(told.items()))
    sys.stdout.write(f"{asked.count} workflows: {counted}\n")
    return 1 if told["differ"] else 0


def like(controller: Controller, case: Case, found: list[str]) -> Callable[[Json], bool]:
    """A predicate: whether a manifest differs in one of the fields in which the whole one does."""
    wanted = {_field(line) for line in found}

    def differs(manifest: Json) -> bool:
        try:
            others = differences(controller, case._replace(manifest=manifest))
        except (Refused, Gone):
            return False
        return not wanted.isdisjoint(map(_field, others))

    return differs


def _field(line: str) -> str:
    """The field of a difference, without the name of the node and the values."""
    return line.partition(": ")[2].partition(": ")[0]


def shown(seed: int, case: Case, found: list[str]) -> str:
    """A workflow that differs, as YAML, with the differences as comments, and how to reproduce it."""
    text = yaml.safe_dump_all([case.manifest, *case.objects[1:]], sort_keys=False, width=110)
    more = [f"and {len(found) - MOST} more"] if len(found) > MOST else []
    told = [line.replace("\n", " ") for line in [*found[:MOST], *more]]
    return "\n# ".join([f"--- # SEED={seed} COUNT=1\n{text}", *told]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
