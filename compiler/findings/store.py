"""What can be wrong with the place where files are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    pass


class NoStore(Finding):
    """A `store` that is not on a volume."""

    code = "FD650"
    title = "`store` must be a folder of a volume, not {have}"
    label = "not on a volume"
    help = (
        'write for example store=Volume("claim") / "runs"; without it, or with None, '
        "files go to the artifact repository of the cluster"
    )
    have: str


class StoreNotWritable(Finding):
    """A `store` that cannot be written to."""

    code = "FD651"
    title = "files cannot be stored on `{volume}`: {reason}"
    label = "cannot be written to"
    help = "name a volume that steps may write to, ReadWriteMany if several run at a time"
    volume: str
    reason: str


class NothingStored(Finding):
    """A `store` for a step that returns no file."""

    code = "FD652"
    severity = "warning"
    title = "`{step}` returns no file, so `store` does nothing"
    label = "nothing to keep there"
    help = "leave it out; a step whose files are to be kept returns them as `Path`"
    step: str


class StoreOfRun(Finding):
    """A `store` with a value of the run in its path."""

    code = "FD653"
    title = "the folder of `store` depends on a value of the run"
    label = "it is fixed while compiling"
    help = "name a folder for all runs: each run makes its own folder in it"
