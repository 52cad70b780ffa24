"""What the real controller did, against what a run on this machine does, with its processes.

`python -m tests.corpus.local_runs` lists every difference, and counts them. What a manifest makes random is given
the recorded outcome: its containers mention `random`. Messages may say more here than there.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.journal import Inputs
from flowdsl.runtime.local.pods.pods import Pods
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.runner import Runner
from tests.corpus.recordings import Recording, different, recordings

if TYPE_CHECKING:
    from collections.abc import Iterator

Object = dict[str, Any]

FIELDS = ("displayName", "type", "phase", "progress", "outputs")
LINKS = ("children", "outboundNodes")
#: Runs that end in another way, and why.
EXCEPTIONS = {
    "dag-task-level-timeout": "the cluster took more than five of the twenty seconds to start the container of A",
}


def differences(recording: Recording, folder: Path) -> Iterator[tuple[str, str]]:
    """Where a run on this machine differs from its recording, and how."""
    status: Object = recording.result["status"]
    theirs: dict[str, Object] = {node["name"]: node for node in status["nodes"].values()}

    def recorded(pod: events.StartPod) -> events.Outcome | None:
        node = theirs.get(pod.name)
        if node is None or "random" not in json.dumps(pod.template):
            return None
        return events.Outcome(node["phase"], node.get("message", ""), node.get("outputs"))

    name = str(recording.manifest["metadata"]["name"])
    settings = Settings(workflow=name, cpu=64, memory=1 << 40, grace=2)
    runner = Runner(folder, lambda report: Pods(folder, report, settings), fake=recorded)
    machine = runner.begin(Inputs(recording.manifest, [], {}, {}))
    kept: Object = json.loads((folder / "workflow.json").read_text("utf-8"))
    assert kept["status"]["phase"] == machine.phase
    yield from different("phase", machine.phase, status["phase"])
    yield from different("outputs", machine.run.outputs or None, status.get("outputs"))
    yield from different("progress", kept["status"]["progress"], status.get("progress"))
    mine: dict[str, Object] = {node["name"]: node for node in kept["status"]["nodes"].values()}
    yield from different("nodes", sorted(mine), sorted(theirs))
    for node in sorted(mine.keys() & theirs.keys()):
        for field in FIELDS:
            yield from different(f"{node} {field}", mine[node].get(field), theirs[node].get(field))
        for field in LINKS:
            one, other = (_linked(status, node, field) for status in (kept["status"], status))
            yield from different(f"{node} {field}", one, other)
        ours, others = mine[node].get("message", ""), theirs[node].get("message", "")
        if not ours.startswith(others):
            yield f"{node} message", f"{ours!r}, recorded {others!r}"


def _linked(status: Object, name: str, field: str) -> list[str]:
    """The names of the nodes that another one leads to."""
    nodes: dict[str, Object] = status["nodes"]
    node = next(node for node in nodes.values() if node["name"] == name)
    return sorted(nodes[one]["name"] for one in node.get(field) or () if one in nodes)


def main() -> int:
    """List the differences; the exit code says whether there is one that is not explained."""
    runs = recordings()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for run in runs:
            found = list(differences(run, Path(folder) / run.name))
            explained = EXCEPTIONS.get(run.name, "")
            wrong += bool(found) and not explained
            for what, how in found:
                sys.stdout.write(f"{run.name}: {what}: {how}{f' ({explained})' if explained else ''}\n")
    sys.stdout.write(f"{len(runs)} runs, {wrong} differ, {len(EXCEPTIONS)} more of them explained\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
