"""A pod that cannot go on, and how it ends therefore."""

from __future__ import annotations

from flowdsl.runtime.local.controller.events import Outcome, Phase


class Refusal(Exception):
    """A pod ends before its programs do, with a message, and by default the phase Error."""

    def __init__(self, message: str, phase: Phase = "Error") -> None:
        super().__init__(message)
        self.outcome = Outcome(phase, message)
