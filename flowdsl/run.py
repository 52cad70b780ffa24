"""`run`, the run itself: `run.name`, `run.namespace`, `run.checkpoint_dir`; at its end also its result."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

from flowdsl.values import types as t
from flowdsl.values.expr import Checkpoint, RunField
from flowdsl.values.value import FewFields, value

#: How a run or a task can have ended.
OUTCOME = t.Choice(("Succeeded", "Failed", "Error"))

#: The fields of a run that are known only after its end, with their types.
AT_THE_END: dict[str, t.Type] = {
    "status": OUTCOME,
    "failures": t.Sequence(t.Mapping(t.TEXT)),
    "duration": t.FLOAT,
}


class _Run(FewFields):
    """Fields of the current run; each is a value that exists only at run time."""

    __slots__ = ()
    _said = "`run`"

    @property
    def name(self) -> str:
        """The name of the run: that of the Workflow object."""
        return cast(str, value(RunField("name")))

    @property
    def namespace(self) -> str:
        """The namespace the run is in."""
        return cast(str, value(RunField("namespace")))

    @property
    def scheduled_time(self) -> str:
        """When the schedule was to start the run, in RFC 3339; of a run that nothing scheduled, when it was made."""
        return cast(str, value(RunField("scheduled_time")))

    @property
    def status(self) -> Literal["Succeeded", "Failed", "Error"]:
        """How the run ended, for the tasks of `on_exit()`."""
        return cast('Literal["Succeeded"]', value(RunField("status", AT_THE_END["status"])))

    @property
    def failures(self) -> list[dict[str, str]]:
        """What failed, for the tasks of `on_exit()`: one dict for each node of the run that did.

        Its keys: `name`, `message`, `template`, `phase` ("Failed" or "Error"), `pod`, `finished_at`. The
        graphs around a failed task are in the list too, and attempts that failed before one succeeded.
        """
        return cast("list[dict[str, str]]", value(RunField("failures", AT_THE_END["failures"])))

    @property
    def duration(self) -> float:
        """How long the run took, in seconds, for the tasks of `on_exit()`."""
        return cast(float, value(RunField("duration", AT_THE_END["duration"])))

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
