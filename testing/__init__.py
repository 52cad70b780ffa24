"""Pipelines in tests: a fixture of pytest that runs one on this machine, and what came of it."""

from flowdsl.testing.result import CannotRun, Phase, Run, RunFailed, StepRun
from flowdsl.testing.runs import RunPipeline

__all__ = ["CannotRun", "Phase", "Run", "RunFailed", "RunPipeline", "StepRun"]
