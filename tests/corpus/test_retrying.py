"""Each recorded run is retried as Argo retries it: as it ended, from each of its nodes, and with failures made up.

`retried.json` has what FormulateRetryWorkflow of Argo 4.1.2 made of the same runs, as digests.
"""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from flowdsl.runtime.cluster.retrying import retried
from flowdsl.runtime.cluster.trouble import Unfit
from flowdsl.runtime.local.controller.names import fnv32a
from tests.corpus import corpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Object = dict[str, Any]

EXPECTED: dict[str, list[str]] = json.loads(Path(__file__).with_name("retried.json").read_text("utf-8"))
TIMES = ("startedAt", "finishedAt")
MADE_UP = 12


def runs() -> Iterator[tuple[str, Object]]:
    """The last state of each recorded run, by the name of the recording."""
    for path in sorted(corpus("recordings").glob("*.json")):
        yield path.stem, json.loads(path.read_text("utf-8"))["result"]
    for path in sorted(corpus("recordings", "histories").glob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        yield f"histories/{path.stem}", [line["object"] for line in lines if line.get("kind") == "wf"][-1]


def made_up(run: Object, seed: int) -> Object:
    """A run in which other nodes failed."""
    found = copy.deepcopy(run)
    found["status"]["phase"] = "Failed"
    for each, node in found["status"].get("nodes", {}).items():
        number = fnv32a(f"{seed} {each}")
        leaf = node["type"] in ("Pod", "Container", "Suspend", "HTTP", "Skipped")
        if number % 10 < (3 if leaf else 4):
            phases = ("Failed", "Error", "Succeeded") if leaf else ("Failed", "Error", "Running")
            node["phase"] = phases[number // 10 % 3]
    return found


def cases(run: Object) -> Iterator[tuple[Object, list[str], dict[str, str]]]:
    """What is retried: a run, the nodes that are chosen, and parameters."""
    nodes = sorted(run["status"].get("nodes") or {})
    yield run, [], {}
    yield run, [], {"other": "1"}
    for each in nodes:
        yield run, [each], {}
    for seed in range(MADE_UP if nodes else 0):
        chosen = [nodes[fnv32a(str(seed)) % len(nodes)]] if seed % 3 == 2 else []
        yield made_up(run, seed), chosen, {"other": "1"} if seed % 2 else {}


def digest(made: Object | None, gone: Sequence[str]) -> str:
    """What matters of an answer, in short: all but times, without what is empty, and the nodes whose pods go."""
    if made is None:
        return "refused"
    text = json.dumps(
        [_plain({key: made[key] for key in ("metadata", "spec", "status")}), gone], sort_keys=True
    )
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        found = {key: _plain(each) for key, each in cast("Object", value).items() if key not in TIMES}
        return {key: each for key, each in found.items() if each not in (None, "", {}, [])}
    whole: Any = value
    return [_plain(each) for each in whole] if isinstance(value, list) else whole


def answer(run: Object, chosen: list[str], parameters: dict[str, str]) -> str:
    try:
        made = retried(run, chosen, parameters, "2027-01-01T00:00:00Z")
    except Unfit:
        return digest(None, ())
    nodes: Object = run["status"].get("nodes") or {}
    return digest(made.workflow, sorted(each for each in made.gone if nodes[each]["type"] == "Pod"))


@pytest.mark.parametrize(("name", "run"), [pytest.param(*one, id=one[0]) for one in runs()])
def test_a_run_is_retried_as_argo_retries_it(name: str, run: Object) -> None:
    assert [answer(*case) for case in cases(run)] == EXPECTED[name]


def test_all_recordings_have_been_retried() -> None:
    assert {name for name, _ in runs()} == set(EXPECTED)
