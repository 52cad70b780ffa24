"""The run itself, as a value: `run.name`, `run.namespace`, `run.checkpoint_dir`."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from flowdsl.expr import Checkpoint, RunField
from flowdsl.value import value


class _Run:
    """Fields of the run that is going on; each is text that exists only at run time."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the run: that of the Workflow object."""
        return cast(str, value(RunField("name")))

    @property
    def namespace(self) -> str:
        """The namespace the run is in."""
        return cast(str, value(RunField("namespace")))

    @property
    def checkpoint_dir(self) -> Path:
        """A folder of the task's own that its retries see again; an argument or a default of a step.

        It lies where `checkpoints=` of the step or pipeline, or the cluster's profile, says: one folder for each
        task of a run, and for each item of a loop.
        """
        return cast(Path, value(Checkpoint()))

    def __repr__(self) -> str:
        return "<run>"


run = _Run()
