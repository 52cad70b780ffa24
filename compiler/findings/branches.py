"""What can be wrong with what Python decides, and Argo would have to."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class BranchEscape(Finding):
    """A value used outside the branch that makes it."""

    code = "FD291"
    title = "`{step}` may not have run: its value is used outside its branch"
    label = "made only under a condition"
    help = (
        "use it inside the same `with` block, or choose: `either(value, other)`, "
        "with a default as the last one where no value may be there"
    )
    step: str


class ForeignValue(Finding):
    """A value of another pipeline's body."""

    code = "FD292"
    title = "this value belongs to the body of another pipeline"
    label = "not an argument of this pipeline"
    help = "give this pipeline a parameter for it, and pass it"


class MixedFiles(Finding):
    """A choice between a file in the artifact repository and one on a volume."""

    code = "FD297"
    title = "the files to choose from are kept in different places"
    label = "{apart}"
    help = "{way}"
    places: bool = True  # false: one is what a step returns, the other is written in the pipeline

    def words(self) -> dict[str, str]:
        """The two places, and the way out."""
        apart = "one is on a volume, the other in the artifact repository"
        way = "keep both in one place: `store` puts the files of a step on a volume"
        way = f"{way}, and a step can return a copy of one"
        if not self.places:
            apart = "one is what a step returns, the other is written here"
            way = "let a step return the other, too"
            way = f"{way}; or call a step with each in its branch, and choose between the results"
        return {**super().words(), "apart": apart, "way": way}


class IsNone(Finding):
    """A run-time value compared with None by identity."""

    code = "FD298"
    title = "`{text}` is decided while compiling, and a run-time value is never None then"
    label = "always the same answer"
    help = "{way}"
    text: str
    operator: str
    files: bool = False  # whether it holds files, of which Argo knows none to be missing
    default: bool = True  # whether `either` can give it a default

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        ways = ["give the value a default with `either(value, default)`"] if self.default else []
        if self.files:
            ways.append("pass it to a step that takes it as it is, or returns as a bool whether it is there")
        else:
            ways.append(f"use `when(value {self.operator} None)`")
        return {**super().words(), "way": ", or ".join(ways)}


class FailureUnseen(Finding):
    """`try` around the call of a step, as if it could fail there."""

    code = "FD352"
    severity = "warning"
    title = "`{word}` does not see how `{step}` ends"
    label = "this body has finished before `{step}` begins"
    help = "{way}"
    word: str
    step: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        way = f"call what is to run at the end of `{self.step}` in `with on_exit(...)`"
        if self.word == "except":
            way = (
                f"call what is to run when `{self.step}` has failed in `with on_failure(...)`; "
                "`.options(may_fail=True)` lets the run succeed without it"
            )
        return {**super().words(), "way": way}


class LeftBlock(Finding):
    """`return`, `break` or `continue` in a block of `when` and its like: Python obeys it while it compiles."""

    code = "FD353"
    title = "this `{verb}` takes effect while compiling, not when the block of `{word}` runs"
    label = "leaves out what follows, in every run"
    help = "{way}"
    verb: str
    word: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        way = "call what is to run otherwise in a block of `unless(...)` or `otherwise()`"
        if self.verb == "return":
            way += ", and return once at the end: `either(value, other)` is the value of the branch that ran"
        if self.word.startswith("on_"):
            way = (
                f"let the body continue after the block: what is called there does not wait for `{self.word}`"
            )
        return {**super().words(), "way": way}


class EmptyBlock(Finding):
    """A block of `when`, `unless`, `otherwise`, `on_exit` or `on_failure` in which no step is called."""

    code = "FD354"
    severity = "warning"
    title = "no step is called in this block of `{word}`"
    label = "everything else in it happens while compiling, in every run"
    help = "{way}"
    word: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        way = (
            "call a step in it that returns the value, and take `either(value, other)` after it; or remove it"
        )
        if self.word.startswith("on_"):
            way = "call a step in it that does this in the run; or remove it"
        return {**super().words(), "way": way}


class EitherAlways(Finding):
    """An `either` whose first value is made without a task, such as a number computed in a branch."""

    code = "FD355"
    title = "`either` never uses what follows a value that is always there"
    label = "its first value is made without any task, so it is there whichever branch runs"
    help = (
        "give the default last, as in `either(either(a, b), -1)`, or let a step in the branch make the value"
    )


class TakenOnce(Finding):
    """A time or random value is taken in the body of a pipeline: once, when it is compiled."""

    code = "FD356"
    severity = "warning"
    title = "`{call}` is called once, when the pipeline is compiled"
    label = "every run gets the same value, and each compilation writes different YAML"
    help = (
        "pass it as a parameter, let a step return it, or use `run.name` for names, `run.scheduled_time` "
        "for times"
    )
    call: str
