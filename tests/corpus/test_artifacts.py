"""The steps of recorded runs: every node that ran is in one, under one name and in one folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flowdsl.runtime.artifacts.pieces import read
from tests.corpus import corpus

Json = dict[str, Any]

RECORDINGS = sorted(corpus("recordings").glob("*.json"))


@pytest.mark.parametrize("path", RECORDINGS, ids=[path.stem for path in RECORDINGS])
def test_every_node_that_ran_is_a_step(path: Path) -> None:
    workflow: Json = json.loads(path.read_text("utf-8"))["result"]
    found = read(workflow).steps
    assert len({one.path for one in found}) == len({one.folder for one in found}) == len(found)
    nodes: dict[str, Json] = workflow["status"]["nodes"]
    attempts = {
        child for node in nodes.values() if node["type"] == "Retry" for child in node.get("children", ())
    }
    ran = {key for key, node in nodes.items() if node["type"] in ("Pod", "Suspend", "HTTP")}
    lost = ran - {one.pod.id for one in found}
    # Attempts before the last one, and what was in them.
    assert all(key in attempts or nodes[key].get("boundaryID") in attempts for key in lost)


def test_artifacts_of_recorded_runs() -> None:
    found = {
        piece.name: piece.location.said
        for path in RECORDINGS
        for piece in read(json.loads(path.read_text("utf-8"))["result"]).pieces
        if path.stem in ("artifact-gc-workflow", "sweep-one-trial-fails")
    }
    assert found == {
        "main.on-completion": "s3://argo/on-completion.txt",
        "main.on-deletion": "s3://argo/on-deletion.txt",
        "train(0).model": "s3://argo/sweep-6kdnr/train/0/model",
        "train(2).model": "s3://argo/sweep-6kdnr/train/2/model",
    }
