"""What can be wrong with the tasks of a graph: their names, and their number."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class AlikeCalls(Finding):
    """Two unassigned calls that would get one name."""

    code = "FD293"
    title = "two calls would both be named `{name}`"
    label = "the second one needs a name of its own"
    help = 'assign its result to a variable, or write `{step}.options(name="...")(...)`'
    name: str
    step: str


class SameName(Finding):
    """Two tasks that ask for one name."""

    code = "FD294"
    title = "two tasks are named `{name}`"
    label = "the name is taken"
    help = "{way}"
    name: str
    repeated: bool = False

    def words(self) -> dict[str, str]:
        """The fields, and the way out that fits one statement or two."""
        way = "give one of them another name"
        if self.repeated:
            way = 'make it from what differs, as in name=f"load-{table}"'
        return {**super().words(), "way": way}


class BadTaskName(Finding):
    """A name that no task can have."""

    code = "FD295"
    title = "`{name}` cannot be the name of {what}"
    label = "{reason}"
    help = "use letters, digits and `-`, beginning with a letter"
    name: str
    what: str
    reason: str


class Waiting(Finding):
    """A graph that can only be split by letting tasks wait for others."""

    code = "FD338"
    severity = "warning"
    title = "`{name}` has more than 200 tasks, and no place to split them"
    label = "some tasks will wait for others that they do not need"
    help = "use fan_out for similar tasks, or move parts of it into pipelines of their own"
    name: str
