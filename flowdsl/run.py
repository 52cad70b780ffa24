"""The run itself, as a value: `run.name`, `run.namespace`."""

from __future__ import annotations

from typing import cast

from flowdsl.expr import RunField
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

    def __repr__(self) -> str:
        return "<run>"


run = _Run()
