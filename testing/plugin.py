"""The pytest plugin: the fixture `run_pipeline`, and the explanation of failed assertions about a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from flowdsl.testing import RunPipeline


@pytest.fixture
def run_pipeline(tmp_path_factory: pytest.TempPathFactory) -> RunPipeline:
    """Run a pipeline on this machine: `run_pipeline(pipeline, parameter=value, fakes={"step": value})`."""
    from flowdsl.testing import RunPipeline

    return RunPipeline(tmp_path_factory.mktemp("flowdsl"))


def pytest_assertrepr_compare(op: str, left: Any, right: Any) -> list[str] | None:
    """Say why a run has the phase that it has."""
    for phase, other in ((left, right), (right, left)):
        report = getattr(phase, "flowdsl_report", None)
        if report is not None and isinstance(other, str):
            return [f"{str(left)!r} {op} {str(right)!r}", "", *report()]
    return None
