"""Findings about `fan_out`: what it calls, and what it iterates over."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, Unknown


class NotABody(Finding):
    """`fan_out` or `sweep` of something that is neither a step nor a pipeline."""

    code = "FD240"
    title = "a loop runs a step or a pipeline, not {have}"
    label = "neither a step nor a pipeline"
    help = "{way}"
    have: str
    inner: str  # the step or pipeline in a `partial`

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        way = "put @step(...) or @pipeline above the function, and pass it without calling it"
        if self.inner:
            way = f"pass `{self.inner}` itself, and what all items share by name, beside `over=`"
        return {**super().words(), "way": way}


class OverNotNamed(Finding):
    """`over=` without the names of parameters."""

    code = "FD241"
    title = "`over` is {have}, and does not say which parameter it is for"
    label = "no parameter is named"
    help = 'name it: over={{"{parameter}": ...}}'
    have: str
    parameter: str


class UnknownOver(Unknown):
    """`over=` names a parameter that the body does not have."""

    code = "FD242"
    title = "`{step}` has no parameter `{name}` to loop over"
    help = "name a parameter of `{step}`"
    nothing = "it takes no arguments"
    step: str


class EmptyOver(Finding):
    """A loop over nothing."""

    code = "FD243"
    title = "the loop has no items"
    label = "nothing to loop over"
    help = "give at least one item, or skip the loop with Python's own `if`"


class OverNotAList(Finding):
    """A loop over something that is not a list."""

    code = "FD244"
    title = "`{name}` loops over {have}, which is not {want}"
    label = "this is {have}"
    help = "{way}"
    name: str
    have: str
    want: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out: a number may be meant as a count, and a space for a sweep."""
        way = f"pass {self.want}: one written here, or one that a step returns"
        if self.have == "int" and self.want in ("list[int]", "list[float]"):
            way = f'for the numbers 0, 1, 2 ... below it write `over={{"{self.name}": numbers(...)}}`'
        elif self.have.startswith(("the Step", "the Pipeline")):
            way = "call it: its result is what is looped over"
        elif self.have == "a search space":
            way = "write the items, such as [1, 2, 4] or range(1, 6); a search space is for `sweep`"
        return {**super().words(), "way": way}


class UnevenLists(Finding):
    """Lists that are walked together but differ in length."""

    code = "FD245"
    title = "the lists differ in length: {lengths}"
    label = "walked together, one item of each at a time"
    help = "make them equally long, or use `over=grid(...)` for every combination"
    lengths: str


class BadCount(Finding):
    """A count that is not a whole number above zero."""

    code = "FD247"
    title = "`{word}` is {have}, not a whole number of at least 1"
    label = "must be 1 or more"
    help = "write a number that is known while compiling, such as {word}=4"
    word: str
    have: str


class NotACount(Finding):
    """Something that is not a whole number where a count is needed."""

    code = "FD720"
    title = "`numbers` takes a whole number, not {have}"
    label = "this is {have}"
    help = "pass the int that a step returned, or an int parameter of the pipeline"
    have: str


class NotResults(Finding):
    """Something that is not the result of a loop."""

    code = "FD721"
    title = "`failed` takes the results of a loop, not {have}"
    label = "not what a loop returned"
    help = "pass what `fan_out(..., keep_going=True)` returned, or `.results` of a sweep"
    have: str


class TooManyToName(Finding):
    """The failed items of a very long loop."""

    code = "FD724"
    title = "`failed` of a loop with {items} items: at most {most} are possible"
    label = "too many for an expression of Argo"
    help = "let every item return its own number, and find the missing ones in a step"
    items: int
    most: int


class TooMany(Finding):
    """More tasks than a Workflow has room for, or a list that never ends."""

    code = "FD398"
    title = "more than {most} {what} in `{name}`"
    label = "{why}"
    help = "{way}"
    what: str
    name: str
    most: int

    def words(self) -> dict[str, str]:
        """The fields, and how to ask for less."""
        way = _LESS[self.what]
        why = "too long for a list" if self.what == "values" else "no Workflow has room for as many tasks"
        return {**super().words(), "why": why, "way": way}


_LESS = {
    "calls": "give the loop an end: over many values use `fan_out`; until something is good enough, loop inside a step",
    "items": "take fewer, and let the step of each do more; or run the work as several workflows",
    "values": "write `integer(low, high)` for whole numbers in a row, `uniform(low, high)` for others",
    "trials": "ask for fewer",
}
