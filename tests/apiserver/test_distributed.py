"""What a distributed step makes of the cluster, given to a real API server, as strictly as it can judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apiserver.server import ApiServer
from tests.distributed_objects import made

ROOT = Path(__file__).resolve().parents[2]
CASES = [ROOT / "examples/distributed/pipeline.py", ROOT / "tests/lowering/distributed.py"]
PATHS = {"Service": "/api/v1/namespaces/{}/services", "Job": "/apis/batch/v1/namespaces/{}/jobs"}


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.parent.name)
def test_the_server_takes_the_objects_of_a_distributed_step(
    case: Path, server: ApiServer, namespace: str
) -> None:
    objects = made(case, {"note": 'a "quoted" $(HOME) {brace}\nsecond: line'})
    assert {one["kind"] for one in objects} == {"Service", "Job"}
    for one in objects:
        path = PATHS[one["kind"]].format(namespace)
        taken = server.admin.call("POST", path, one, query={"fieldValidation": "Strict"})
        assert taken["metadata"]["ownerReferences"] == one["metadata"]["ownerReferences"]
        assert taken["metadata"]["name"] == one["metadata"]["name"]
