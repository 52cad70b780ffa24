"""What can be wrong with the items and the results of a loop."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class ScatteredFiles(Finding):
    """Files of a loop that are made outside of it."""

    code = "FD336"
    title = "not all files {shown}that `{pipeline}` returns are made in it"
    label = "a list of files is read from the folders of the loop"
    help = "let a step in `{pipeline}` return the file, or keep the files on a volume: `store`"
    pipeline: str
    name: str

    def words(self) -> dict[str, str]:
        """The fields, and the name of the output where there are several."""
        return {**super().words(), "shown": "" if self.name == "return" else f"`{self.name}` "}


class UnlistedFiles(Finding):
    """A loop over a list of files whose names are not known."""

    code = "FD350"
    title = "a loop cannot take apart this `{type}`"
    label = "{reason}"
    help = "{way}"
    type: str
    why: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        reason = "what is in it is known only to the step that made it"
        way = "give `over` what a Python step returned, in the pipeline that calls it"
        if self.why == "item":
            reason = "the files of each item are passed on together"
            way = "let an item be a `Path`, or a record or tuple of `Path`s and values"
        return {**super().words(), "reason": reason, "way": way}


class RoundedInteger(Finding):
    """A whole number inside the items of a loop that Argo would round."""

    code = "FD351"
    title = "Argo would round {number} when it takes it out of this list"
    label = "beyond 2**53 whole numbers are exact only in a `list[int]`"
    help = "write it as a `str`, and convert it in the step"
    number: str


class RowsInside(Finding):
    """The results of a loop inside another value."""

    code = "FD337"
    title = "the results of a loop are inside another value"
    label = "known only together, when the loop has ended"
    help = (
        "pass them to a step as an argument of their own, `parameter: list[...]`, and continue with what "
        "it returns"
    )
