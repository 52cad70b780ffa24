"""One server for all tests: each has a namespace of its own, and leaves the parts running."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from tests.apiserver.proofs import SHORT
from tests.apiserver.server import ApiServer
from tests.artifacts.objects import Objects
from tests.corpus import corpus

numbers = count(1)

TOOLS = ["test_replay.py", "test_server.py"]
"""Prove the server and the replay of recordings, with which the others prove flowdsl."""

collect_ignore = TOOLS if SHORT else []


def pytest_report_header() -> str:
    """Say how much is proven."""
    if not SHORT:
        return "proofs: all"
    return f"proofs: short, without {' and '.join(TOOLS)}; `make test-cluster` without PROOFS=short has all"


@pytest.fixture(scope="session")
def server() -> Iterator[ApiServer]:
    """A server with the definitions of Argo."""
    with ApiServer(crds=sorted(corpus("argo").glob("argoproj.io_*.yaml"))) as made:
        yield made


@pytest.fixture
def namespace(server: ApiServer) -> str:
    """A new namespace."""
    return server.namespace(f"test-{next(numbers)}")


@pytest.fixture
def objects() -> Iterator[Objects]:
    """A store of artifacts."""
    made = Objects()
    yield made
    made.close()
