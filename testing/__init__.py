"""Tests of pipelines: a pytest fixture that runs a pipeline on this machine, and the result of such a run."""

from flowdsl.testing.error import CannotRun, RunFailed
from flowdsl.testing.result import Phase, Run, StepRun
from flowdsl.testing.runs import RunPipeline

__all__ = ["CannotRun", "Phase", "Run", "RunFailed", "RunPipeline", "StepRun"]
