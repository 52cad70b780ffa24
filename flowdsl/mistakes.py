"""The mistakes that the trace finds: arguments, types, and what run-time values cannot do (FD2xx).

Imported when the first one is reported.
"""

from __future__ import annotations

from typing import ClassVar

from flowdsl.diagnostic import Finding, Severity, suggest


class TooManyArguments(Finding):
    """More positional arguments than the step has parameters."""

    code = "FD201"
    title = "`{step}` takes {takes} positional arguments, not {given}"
    label = "one too many"
    help = "leave it out, or name the parameter it is for"
    step: str
    given: int
    takes: int


class MissingArgument(Finding):
    """A parameter without a default got no argument."""

    code = "FD202"
    title = "`{step}` needs `{name}: {type}`"
    label = "`{name}` is missing here"
    help = "pass `{name}=...`, or give the parameter a default"
    step: str
    name: str
    type: str


class UnknownParameter(Finding):
    """An argument that the step has no parameter for."""

    code = "FD203"
    title = "`{step}` has no parameter `{name}`"
    label = "{meant}"
    help = "use one of the parameters of `{step}`, or leave it out"
    step: str
    name: str
    close: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the parameter that was probably meant."""
        meant = f"did you mean `{self.close}`?" if self.close else suggest(self.name, self.known)
        return {**super().words(), "meant": meant or f"`{self.step}` takes no arguments"}


class RepeatedArgument(Finding):
    """One parameter got two arguments."""

    code = "FD204"
    title = "`{step}` gets `{name}` twice"
    label = "the second one"
    help = "keep one of the two"
    step: str
    name: str


class WrongType(Finding):
    """An argument of a type that the parameter does not take."""

    code = "FD205"
    title = "`{parameter}` of `{step}` is {want}, not {have}"
    label = "this is {have}"
    help = "pass {want}, or change the annotation of `{parameter}`"
    parameter: str
    step: str
    want: str
    have: str


class UnknownOutput(Finding):
    """A field that the result of a step does not have."""

    code = "FD206"
    title = "{of} has no output `{name}`"
    label = "{meant}"
    help = "take one of the fields of {of}"
    of: str
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the output that was probably meant."""
        return {**super().words(), "meant": suggest(self.name, self.known)}


class RunTimeCondition(Finding):
    """Python asked for the truth of a value that exists only at run time."""

    code = "FD207"
    title = "the truth of a run-time value is not known while compiling"
    label = "known only when the pipeline runs"
    help = (
        "`if`: write `with when(...):` and `with otherwise():`; `and`, `or`: write `&`, `|`; `not`: write `unless`"
    )


class RunTimeLoop(Finding):
    """Python looped over, counted or searched a value that exists only at run time."""

    code = "FD208"
    title = "a run-time value cannot be {what} while compiling"
    label = "known only when the pipeline runs"
    help = "to run a step for each element write `fan_out(step, over={{...}})`; else pass the value to a step"
    what: str


class RunTimeConversion(Finding):
    """Python converted a value that exists only at run time."""

    code = "FD209"
    title = "a run-time value cannot be {what} while compiling"
    label = "known only when the pipeline runs"
    help = "pass the value on as it is, and convert it inside a step"
    what: str


class UnsupportedOperator(Finding):
    """An operator that Argo cannot evaluate with Python's result."""

    code = "FD210"
    title = "{operator} does not work on a run-time value"
    label = "Argo has no expression with Python's result for this"
    help = "use + - * / and comparisons, or compute it inside a step"
    operator: str


class CannotOperate(Finding):
    """An operator on types that it does not fit."""

    code = "FD211"
    title = "`{operator}` does not work on {left} and {right}"
    label = "{left} {operator} {right}"
    help = "use numbers, texts, or conditions on both sides, or compute it inside a step"
    operator: str
    left: str
    right: str


class CannotCompare(CannotOperate):
    """An order between types that have none."""

    code = "FD212"
    title = "{left} and {right} cannot be compared with `{operator}`"
    help = "compare two numbers or two texts; give an optional value a default with `either` first"


class RunTimeKey(Finding):
    """A run-time value as a dict key, set member or argument of a cache."""

    code = "FD213"
    title = "a run-time value cannot be a key or a member of a set while compiling"
    label = "its value is known only when the pipeline runs"
    help = "look it up inside a step"


class TextFormat(Finding):
    """A format specification on a run-time value."""

    code = "FD214"
    title = "the format `:{spec}` cannot be applied to a run-time value"
    label = "Argo puts values into text as they are"
    help = "leave the format out, or make the text inside a step"
    spec: str


class TextRepr(Finding):
    """The repr of a run-time value in text."""

    code = "FD215"
    title = "the repr of a run-time value has no meaning in text"
    label = "made by !r, = or by a list in text"
    help = "write {{x}}, not {{x!r}} or {{x=}}"


class TextType(Finding):
    """A value in text whose text Python and Argo write differently."""

    code = "FD216"
    title = "a {type} cannot stand inside text"
    label = "Python and Argo write it differently"
    help = "put only str, int and float into text; pass this value as an argument of its own"
    type: str


class LostText(Finding):
    """A text made from a run-time value that arrived nowhere."""

    code = "FD217"
    severity: ClassVar[Severity] = "warning"
    title = "the text made from this run-time value is not used by any task"
    label = "made here, and then lost"
    help = "pass the text to a step as it is; what Python does with it now cannot see the value"


class DamagedText(Finding):
    """A text with a run-time value in it was changed before it arrived."""

    code = "FD218"
    title = "a text that holds a run-time value was cut or changed"
    label = "the value can no longer be found in it"
    help = "pass the text on as it was made, and change it inside a step"


class LiteralBraces(Finding):
    """A literal that Argo would evaluate."""

    code = "FD219"
    title = "the text holds `{{{{`, which Argo evaluates"
    label = "Argo would replace what follows, even in an environment variable"
    help = "write the text to a file in a step, or pass its two braces apart"


class ControlCharacter(Finding):
    """A literal with a character that breaks Argo's substitution."""

    code = "FD220"
    title = "the text {text} holds a control character"
    label = "Argo fails when it substitutes it"
    help = "escape it in the text, and decode it inside the step"
    text: str


class NotFinite(Finding):
    """NaN or an infinity as a constant."""

    code = "FD221"
    title = "{value} is not a number that JSON and Argo can hold"
    label = "not a finite number"
    help = "use a finite number, or None with a parameter of type `float | None`"
    value: str


class LocalFile(Finding):
    """A path of this machine where a file of the cluster is wanted."""

    code = "FD222"
    title = "`{path}` is a path on this machine, and the step runs in the cluster"
    label = "not a file of the cluster"
    help = "pass the output of a step, or a path on a volume: `Volume(\"claim\") / \"{path}\"`"
    path: str


class OptionalUse(Finding):
    """A value that may be None was used as if it were not."""

    code = "FD223"
    title = "{what} on a value of type {type}, which may be None"
    label = "may be None when the pipeline runs"
    help = "give it a default first: `either(value, default)`"
    what: str
    type: str


class NoFields(Finding):
    """An attribute of a value that has none."""

    code = "FD224"
    title = "a run-time {type} has no attribute `{name}` while compiling"
    label = "only outputs of records have fields here"
    help = "return a NamedTuple or dataclass from the step to hand on several values"
    name: str
    type: str


class NoItem(Finding):
    """An index into a value that has no such element."""

    code = "FD225"
    title = "[{key}] does not work on a run-time {type}"
    label = "no such element"
    help = "index a list with a number, a dict[str, ...] with a text; take files out of a folder inside a step"
    key: str
    type: str


class StandInRefused(Finding):
    """Code written in C refused a run-time value."""

    code = "FD226"
    title = "a run-time value was given to code that needs its value now"
    label = "{problem}"
    help = "pass the value to a step, and do this inside it"
    problem: str


class PipelineThread(Finding):
    """A step was called from a thread of the pipeline's body."""

    code = "FD227"
    title = "a step was called from another thread than the pipeline's body"
    label = "called from another thread"
    help = "call steps in the body itself: tasks run in parallel without threads"


class NotATask(Finding):
    """`after=` with something that is not the result of a step."""

    code = "FD228"
    title = "`after` takes results of steps, not {have}"
    label = "not the result of a step in this pipeline"
    help = "pass what the calls returned: `after=[first, second]`"
    have: str


class KnownCondition(Finding):
    """A condition that is known while compiling."""

    code = "FD230"
    title = "the condition of `{word}` is known now: {value}"
    label = "not a run-time value"
    help = "use Python's own `if`"
    word: str
    value: str


class NotACondition(Finding):
    """A condition that is no bool."""

    code = "FD231"
    title = "the condition of `{word}` is {have}, not bool"
    label = "this is {have}"
    help = "compare it with something: `{word}(value > 0)`"
    have: str
    word: str


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
    help = "use Python's own `if` or `or`"


class EitherType(Finding):
    """`either` with two values of different types."""

    code = "FD234"
    title = "`either` chooses between {want} and {have}"
    label = "this is {have}, the first is {want}"
    help = "give both values one type"
    want: str
    have: str


class Recursion(Finding):
    """A pipeline that calls itself."""

    code = "FD235"
    title = "the pipeline `{name}` calls itself"
    label = "the body is run once while compiling, so it cannot end"
    help = "use fan_out or sweep for repetition, or Python's own loop over known values"
    name: str


class WrongReturn(Finding):
    """A pipeline returns something else than it says."""

    code = "FD236"
    title = "`{name}` returns {have}, and its annotation says {want}"
    label = "says {want}"
    help = "return {want}, or change the annotation"
    name: str
    want: str
    have: str


class MissingReturnType(Finding):
    """A pipeline returns a value without saying so."""

    code = "FD237"
    title = "`{name}` returns a value, and has no return annotation"
    label = "without `-> ...` the value is lost"
    help = "annotate what it returns, or return nothing"
    name: str


class WrongDefault(Finding):
    """A default that is not of the parameter's type."""

    code = "FD238"
    title = "the default of `{parameter}` is {have}, not {want}"
    label = "this is {have}"
    help = "change the default or the annotation"
    parameter: str
    want: str
    have: str


class NotABody(Finding):
    """`fan_out` or `sweep` of something that is neither a step nor a pipeline."""

    code = "FD240"
    title = "a loop runs a step or a pipeline, not {have}"
    label = "this is {have}"
    help = "put @step(...) or @pipeline above the function, and pass it without calling it"
    have: str


class OverNotNamed(Finding):
    """`over=` without the names of parameters."""

    code = "FD241"
    title = "`over` is {have}, and does not say which parameter it is for"
    label = "no parameter is named"
    help = "name it: `over={{\"parameter\": ...}}`"
    have: str


class UnknownOver(Finding):
    """`over=` names a parameter that the body does not have."""

    code = "FD242"
    title = "`{step}` has no parameter `{name}` to loop over"
    label = "{meant}"
    help = "name a parameter of `{step}`"
    step: str
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the parameter that was probably meant."""
        return {**super().words(), "meant": suggest(self.name, self.known)}


class EmptyOver(Finding):
    """A loop over nothing."""

    code = "FD243"
    title = "the loop has no items"
    label = "nothing to loop over"
    help = "give at least one item, or leave the loop out with Python's own `if`"


class OverNotAList(Finding):
    """A loop over something that is no list."""

    code = "FD244"
    title = "`{name}` loops over {have}, which is not {want}"
    label = "this is {have}"
    help = "pass {want}"
    name: str
    have: str
    want: str


class UnevenLists(Finding):
    """Lists that are walked together and differ in length."""

    code = "FD245"
    title = "the lists differ in length: {lengths}"
    label = "walked together, one item of each at a time"
    help = "make them equally long, or write `over=grid(...)` for every combination"
    lengths: str


class GridRunTime(Finding):
    """A product, or a mixture, with a list that only exists at run time."""

    code = "FD246"
    title = "`{name}` is known only at run time, and cannot be combined with the other lists"
    label = "known only when the pipeline runs"
    help = "make the combinations inside a step that returns one list"
    name: str


class BadCount(Finding):
    """A count that is not a whole number above zero."""

    code = "FD247"
    title = "`{word}` is {have}, not a whole number of at least 1"
    label = "must be 1 or more"
    help = "pass a whole number"
    word: str
    have: str


class NotASpace(Finding):
    """A parameter of a sweep with neither a space nor a list."""

    code = "FD250"
    title = "the space of `{name}` is {have}"
    label = "not a search space"
    help = "write choice(...), uniform(low, high), loguniform(...), integer(...) or a list"
    name: str
    have: str


class EmptySpace(Finding):
    """A choice of nothing."""

    code = "FD251"
    title = "the space of `{name}` has no values"
    label = "nothing to choose from"
    help = "give at least one value"
    name: str


class BadSpace(Finding):
    """A space whose numbers make no sense."""

    code = "FD252"
    title = "the space {space}(...) is wrong: {problem}"
    label = "{problem}"
    help = "correct the numbers of the space"
    space: str
    problem: str


class SpaceType(Finding):
    """A space that draws another type than the parameter takes."""

    code = "FD253"
    title = "{space}(...) draws {gives}, and `{name}` is {want}"
    label = "draws {gives}"
    help = "use integer(low, high) or choice(...) for whole numbers, or change the annotation of `{name}`"
    name: str
    space: str
    gives: str
    want: str


class SpaceRunTime(Finding):
    """A space that is known only at run time."""

    code = "FD254"
    title = "the space of `{name}` is known only at run time"
    label = "the trials are drawn while compiling"
    help = "write the values, or use fan_out over the list"
    name: str


class UnknownSearch(Finding):
    """A search method that does not exist."""

    code = "FD255"
    title = "there is no search {have}"
    label = "not a search"
    help = 'use "grid" or "random"'
    have: str


class TrialsMissing(Finding):
    """A random search without a number of trials."""

    code = "FD256"
    title = "a random search needs the number of its trials"
    label = "`trials` is missing here"
    help = "pass `trials=20`"


class GridContinuous(Finding):
    """A grid over a space without end."""

    code = "FD257"
    title = "a grid needs a list of values for `{name}`"
    label = "every value of a range cannot be tried"
    help = "write choice(...) or a list for `{name}`, or pass `trials=` for a random search"
    name: str
    space: str


class GridTrials(Finding):
    """A grid of another size than the number of trials."""

    code = "FD258"
    title = "the grid has {size} points, and `trials` says {trials}"
    label = "a grid tries every point"
    help = 'leave `trials` out, or write search="random"'
    trials: int
    size: int


class TooManyTrials(Finding):
    """More trials than there are different points."""

    code = "FD259"
    title = "the space has only {size} different points for {trials} trials"
    label = "no trial is run twice"
    help = 'ask for at most {size} trials, or write search="grid" without `trials`'
    trials: int
    size: int


class GridTooLarge(Finding):
    """A grid that no cluster will run."""

    code = "FD260"
    title = "the grid has {size} points, more than {most}"
    label = "too many combinations"
    help = "take fewer values, or a random search with `trials=`"
    size: int
    most: int


class NotAnObjective(Finding):
    """`objective=` that is neither maximize nor minimize."""

    code = "FD261"
    title = "the objective is {have}"
    label = "this is {have}"
    help = 'write objective=maximize("output") or minimize("output")'
    have: str


class UnknownMetric(Finding):
    """An objective that is no output of the trial."""

    code = "FD262"
    title = "`{step}` has no output {shown} to judge its trials by"
    label = "{meant}"
    help = "name one of its outputs in the objective"
    name: str
    step: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the output that was probably meant."""
        shown = f"`{self.name}`" if self.name else "without a name"
        return {**super().words(), "shown": shown, "meant": suggest(self.name, self.known) or "it returns nothing"}


class MetricNotANumber(Finding):
    """An objective that is no number."""

    code = "FD263"
    title = "the metric `{name}` is {type}, not a number"
    label = "trials are compared by this"
    help = "return it as float or int"
    name: str
    type: str
