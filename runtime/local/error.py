"""The error of a run on this machine that cannot begin, or go on."""

from __future__ import annotations


class RunError(Exception):
    """A run that cannot start or continue: the message says why."""
