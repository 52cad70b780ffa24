"""Selects the runs that `stop` and the like act on, and how they are ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from flowdsl.cli.root import FLAG, SelectorOption, StatusOption, option


@Parameter(name="*")
@dataclass(frozen=True)
class Selection:
    """Selects runs if none is named."""

    selector: SelectorOption | None = None
    """Runs with these labels, as in kubectl: sweep=lr,team!=vision."""
    every: Annotated[bool, option("--all")] = False
    """All runs of the namespace; for `delete`, where no cluster is configured, those of this folder."""
    status: StatusOption = None
    """Runs in this phase; may be given several times, or several with commas."""
    older_than: str | None = None
    """Runs that ended this long ago, or were created then if they have not ended: 12h, 7d."""

    @property
    def given(self) -> bool:
        """Whether there is a selection."""
        return self.every or bool(self.selector or self.status or self.older_than)


@Parameter(name="*")
@dataclass(frozen=True)
class Manner:
    """How runs are ended."""

    dry_run: Annotated[bool, FLAG] = False
    """Show what would be done, and do nothing."""
    yes: Annotated[bool, option("--yes", "-y")] = False
    """Do not ask."""
    keep_jobs: Annotated[bool, FLAG] = False
    """Keep the jobs of runs: PyTorchJob, TFJob, MPIJob, JobSet, TrainJob, Job."""
