"""`doctor`: the state of a cluster, a line for each check."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flowdsl.cli.display.paint import paint_of_output
from flowdsl.cli.display.texts import line
from flowdsl.cli.pipelines.compiling import Target
from flowdsl.cli.pipelines.documents import right_documents
from flowdsl.cli.process import DONE, NO, WRONG, out
from flowdsl.runtime.checkup import checkup
from flowdsl.runtime.checkup.visit import Visit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.cli.clusters.reach import Reach
    from flowdsl.cli.display.paint import Paint
    from flowdsl.runtime.checkup.visit import Check

Json = dict[str, Any]

_STYLES = {"ok": "green", "note": "yellow", "problem": "red", "unchecked": "dim"}


def examine(reach: Reach, targets: Sequence[str], *, as_json: bool) -> int:
    """Run all checks, and show each result as it arrives; returns the exit code."""
    manifests: list[Json] = []
    if targets:
        right = right_documents(targets, Target(reach.cluster))
        if right is None:
            return WRONG
        manifests = right.every
        reach = reach.of(targets[0])
    visit = Visit(reach.connect(), reach.profile(), manifests)
    paint = paint_of_output()
    done: list[Check] = []
    for check in checkup(visit):
        done.append(check)
        if not as_json:
            out(shown(check, paint))
    if as_json:
        out(json.dumps([one._asdict() for one in done], indent=2, ensure_ascii=False) + "\n")
    else:
        out("\n" + summary(done))
    return NO if any(one.status == "problem" for one in done) else DONE


def shown(check: Check, paint: Paint) -> str:
    """A check as lines: its state, its subject, and below it the remedy."""
    status = paint(f"{check.status:<10}", _STYLES[check.status])
    text = f"{status}{line(check.about)}: {line(check.text)}\n"
    return text + (f"{'':<10}{paint(line(check.remedy), 'cyan')}\n" if check.remedy else "")


def summary(done: Sequence[Check]) -> str:
    """The number of problems, in a line."""
    counts = {word: sum(one.status == word for one in done) for word in _STYLES}
    if not counts["problem"]:
        rest = [f"{counts[word]} {name}" for word, name in _REST if counts[word]]
        return f"no problem in {len(done)} checks" + (f" ({', '.join(rest)})" if rest else "") + "\n"
    many = "1 problem" if counts["problem"] == 1 else f"{counts['problem']} problems"
    return f"{many} in {len(done)} checks; the line below each says what mends it\n"


_REST = (("note", "to note"), ("unchecked", "that could not be read"))
