"""Findings about conditions, `either`, and the blocks of `when` and `on_exit`."""

from __future__ import annotations

from flowdsl.diagnostic import Finding
from flowdsl.mistakes.arguments import ANNOTATE, plain


class KnownCondition(Finding):
    """A condition that is known while compiling."""

    code = "FD230"
    title = "the condition of `{word}` is known now: {value}"
    label = "not a run-time value"
    help = "{way}"
    word: str
    value: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out: a condition is written in Python, not as a text."""
        way = "use Python's own `if`"
        if self.value[:1] in ("'", '"'):
            way = f"write it in Python, without quotes: `{self.word}(result.score > 0.9)`; else use Python's own `if`"
        return {**super().words(), "way": way}


class NotACondition(Finding):
    """A condition that is not a bool."""

    code = "FD231"
    title = "the condition of `{word}` is {have}, not bool"
    label = "this is {have}"
    help = "{way}"
    have: str
    word: str

    def words(self) -> dict[str, str]:
        """The fields, and the comparison that fits the type."""
        way = "let a step return a bool, and ask for that"
        other = {"int": "> 0", "float": "> 0", "str": '== "..."'}.get(self.have, "")
        if self.have == "Any":
            way = ANNOTATE
        if self.have.endswith(" | None"):
            other = "!= None"
        if other:
            way = f"compare it with something: `{self.word}(value {other})`"
        return {**super().words(), "way": way}


class OtherwiseAlone(Finding):
    """`otherwise` without a `when` just before it."""

    code = "FD232"
    title = "`otherwise` does not follow a `when`"
    label = "no `when` ended just before this"
    help = "put `with otherwise():` directly after the `with when(...):` block it belongs to"


class EitherKnown(Finding):
    """`either` with a first value that is known now."""

    code = "FD233"
    title = "the first value of `either` is known now"
    label = "not a run-time value"
    help = "write the value of the run first, `either(value, other)`; of two known ones Python's own `if` chooses"


class EitherType(Finding):
    """`either` with two values of different types."""

    code = "FD234"
    title = "`either` chooses between {want} and {have}"
    label = "this is {have}, the first is {want}"
    help = "give both values one type"
    want: str
    have: str

    def words(self) -> dict[str, str]:
        """The fields, with types as the user knows them."""
        return {**super().words(), **plain(self.want, self.have)}


class ConditionAlone(Finding):
    """A condition that no `with` belongs to."""

    code = "FD249"
    title = "`{word}` without `with` has no effect"
    label = "no task depends on this"
    help = "{way}"
    word: str

    def words(self) -> dict[str, str]:
        """The fields, and the remedy; conditions may be alone because `and` took the other one."""
        way = f"write `with {self.word}(...):`, and call the steps in its block"
        if self.word in ("when", "unless"):
            way = f"{way}; two conditions are one, `{self.word}((a) & (b))`"
        return {**super().words(), "way": way}


class NoTaskToEnd(Finding):
    """The end of something that is not a task of this pipeline."""

    code = "FD709"
    title = "`{word}` takes the result of a task of this pipeline, not {have}"
    label = "not the result of a task"
    help = (
        "pass what the call of a step, a pipeline or a loop returned; without it, the end of the run is meant"
    )
    word: str
    have: str


class EndInsideEnd(Finding):
    """The end of a run used among the tasks that run at its end."""

    code = "FD710"
    title = "`on_exit()` is inside a block that itself runs at the end of the run"
    label = "the run has ended already"
    help = "call its tasks in the block around it"


class EndOfAPart(Finding):
    """The end of a run used in a pipeline that another one calls."""

    code = "FD711"
    title = "`{word}()` is for the end of a run, and `{pipeline}` is called as a part of one"
    label = "Argo has only one end for a run"
    help = "write `with {word}(result):` where `{pipeline}` is called, with a result of that call"
    word: str
    pipeline: str


class EndUnderCondition(Finding):
    """The end of a run used inside a condition."""

    code = "FD712"
    title = "`{word}()` is inside a block that runs only under a condition"
    label = "a run ends whether the condition holds or not"
    help = "move it out of that block, and put a `when` inside it"
    word: str


class SeveralEnds(Finding):
    """The end of several tasks where one is needed."""

    code = "FD713"
    title = "`{word}` takes the result of one task, but this value is made of several"
    label = "of several tasks"
    help = "write one block for each of them"
    word: str


class NeverIncomplete(Finding):
    """The failed items of a loop that fails as soon as one item does."""

    code = "FD722"
    title = "the run fails when an item of this loop over `{step}` does, so none is ever missing here"
    label = "all items succeeded"
    help = "add `keep_going=True` to its `fan_out`, or leave `failed` out"
    step: str


class NotAFlag(Finding):
    """Something that is neither True nor False."""

    code = "FD723"
    title = "`{word}` is {have}, neither True nor False"
    label = "this is {have}"
    help = "write True or False: it is fixed while compiling"
    word: str
    have: str
