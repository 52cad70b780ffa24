"""What ends a pod before its programs, or in place of them, and what ends the whole run."""

from __future__ import annotations

from typing import Literal, TypeVar

from flowdsl.runtime.local.controller.events import Outcome, Phase
from flowdsl.runtime.local.pods.sandbox import SHORT

_Error = TypeVar("_Error", bound=Exception)


class Refusal(Exception):
    """Ends a pod before its programs end, with a message, and by default in phase Error."""

    def __init__(self, message: str, phase: Phase = "Error") -> None:
        super().__init__(message)
        self.outcome = Outcome(phase, message)


def of_the_step(error: _Error) -> _Error:
    """Returns an error that ends a pod; raises one of the machine, which ends the run so that it can be resumed."""
    # Of the errors of the files in a folder `shutil.copytree` keeps only the texts.
    short = (f"[Errno {number}]" for number in SHORT)
    if isinstance(error, OSError) and any(one in str(error) for one in short):
        raise error
    return error


def in_executor(container: Literal["init", "main", "wait"], why: object) -> str:
    """The message of a pod in which Argo's own executor failed: it exits with 64."""
    return f"{container}: Error (exit code 64): {why}"


def failed(why: object) -> Outcome:
    """The outcome of a step that is done by Argo's executor, which failed."""
    return Outcome("Failed", in_executor("main", why), {"exitCode": "64"})
