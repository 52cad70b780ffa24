"""Why a test run cannot begin, or has no outputs."""

from __future__ import annotations

from operator import methodcaller


class CannotRun(Exception):
    """A pipeline that cannot be run here as requested; the text says why."""


class RunFailed(AssertionError):
    """Outputs were requested from a run or step that has none; the text has the end of the log."""


IS_TOLD = methodcaller("errisinstance", (CannotRun, RunFailed))
"""Whether an error shown by pytest is one of these, which are reported at a line of the test."""
