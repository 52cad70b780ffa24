"""The mistakes that the trace finds: arguments, types, and what run-time values cannot do (FD2xx).

Imported when the first one is reported.
"""

from __future__ import annotations

from typing import ClassVar

from flowdsl.diagnostic import Finding, Severity, near, suggest


class TooManyArguments(Finding):
    """More positional arguments than the step has parameters."""

    code = "FD201"
    title = "`{step}` takes {arguments} by position, not {given}"
    label = "{surplus}"
    help = "leave it out, or name the parameter it is for"
    step: str
    given: int
    takes: int

    def words(self) -> dict[str, str]:
        """The fields, and the numbers in words."""
        arguments = {0: "no arguments", 1: "1 argument"}.get(self.takes, f"{self.takes} arguments")
        surplus = "one too many" if self.given == self.takes + 1 else "the first one too many"
        return {**super().words(), "arguments": arguments, "surplus": surplus}


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
    label = "{which}"
    help = "{way}"
    parameter: str
    step: str
    want: str
    have: str
    part: str = ""  # what is wrong with a part of the argument
    members: tuple[str, ...] = ()  # the values that there are, if they are few

    def words(self) -> dict[str, str]:
        """The fields, and the way out that fits both types."""
        way = f"pass {self.want}, or change the annotation of `{self.parameter}`"
        if self.want == "Any" or ("Any" in self.want and " with " in self.have):
            way = "pass what JSON has: str, int, float, bool, None, and lists and dicts of them"
        elif self.have == f"list[{self.want}]":
            loop = f'fan_out({self.step}, over={{"{self.parameter}": ...}})'
            way = f"to run `{self.step}` for each element write {loop}"
        elif self.have == "None":
            way = (
                f"pass {self.want}, from a step that is annotated `-> {self.want}`;"
                f" or annotate `{self.parameter}` as `{self.want} | None`"
            )
        elif self.members:
            way = f"pass {' or '.join(self.members[:6])}{' ...' if len(self.members) > 6 else ''}"
        elif self.have in ("Step", "Pipeline", "function"):
            way = "call it: its result is what is passed on"
        elif self.have == "Volume":
            way = 'pass a path on the volume: `volume / "folder/file"`'
        plain = _plain(self.want, self.have)
        return {**super().words(), **plain, "which": self.part or f"this is {plain['have']}", "way": way}


def _plain(want: str, have: str) -> dict[str, str]:
    """Two types as the user knows them."""
    return {"want": "a JSON value" if want == "Any" else want, "have": "None" if have == "NoneType" else have}


class UnknownOutput(Finding):
    """A field that the result of a step does not have."""

    code = "FD206"
    title = "{of} has no output `{name}`"
    label = "{meant}"
    help = "{way}"
    of: str
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, the output that was probably meant, and the way out."""
        way = _said_before(self.name) or f"take one of the fields of {self.of}"
        return {**super().words(), "meant": suggest(self.name, self.known), "way": way}


def _said_before(name: str) -> str:
    """The way out where other tools have a method of a task for what a step is told before it is called."""
    if name in ("after", "set_upstream", "set_downstream"):
        return "say it before the call: `step.options(after=[first])(...)`"
    if name == "options" or name.startswith(("set_", "add_", "with_")):
        return "say it before the call: `step.options(...)(...)`, or as an option of the step"
    return ""


class RunTimeCondition(Finding):
    """Python asked for the truth of a value that exists only at run time."""

    code = "FD207"
    title = "the truth of a run-time value is not known while compiling"
    label = "known only when the pipeline runs"
    help = "{way}"
    asked: str = ""

    def words(self) -> dict[str, str]:
        """The fields, and the way out for the question that was asked."""
        return {**super().words(), "way": _TRUTH.get(self.asked, "; ".join([*_TRUTH.values()][:5]))}


_TRUTH = {
    "if": "write `with when(...):` for `if`, and `with otherwise():` for `else`",
    "and": "write `(a) & (b)` for `a and b`",
    "or": "write `(a) | (b)` for `a or b`",
    "not": "write `with unless(...):` for `with when(not ...):`, or compare with `!=`",
    "chain": "write `(x < y) & (y < z)` for `x < y < z`",
    "choice": "call what each side needs under `when` and `otherwise`, and choose with `either(one, other)`",
    "while": "repeat over items with `fan_out` or `sweep`, or loop inside a step",
    "in": "write `(x == 1) | (x == 2)` for `x in (1, 2)`, and `(x != 1) & (x != 2)` for `x not in (1, 2)`",
    "filter": "let a step return the list without the others",
    "assert": "check it inside a step, which then fails",
    "order": "pass the values to a step, which compares them; of the trials of a `sweep`, `.best` is the best",
}
"""What to write instead, by the question; where that is not known, the first ones help."""


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
    help = "{way}"
    what: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out: for a count it is a loop of the run."""
        way = "pass the value on as it is, and convert it inside a step"
        if self.what.startswith("given"):
            way = "pass the value to a step, and call the function there"
        if "range()" in self.what:
            way = (
                'to run a step so many times write `fan_out(step, over={"part": numbers(count)})`,'
                " where it gets 0, 1, 2 ... as `part`"
            )
        return {**super().words(), "way": way}


_IN_A_STEP = "or write a step that takes the values and returns the result"


class UnsupportedOperator(Finding):
    """An operator that Argo cannot evaluate with Python's result."""

    code = "FD210"
    title = "{operator} does not work on a run-time value"
    label = "{reason}"
    help = "{way}"
    operator: str

    def words(self) -> dict[str, str]:
        """The fields, and why it does not work."""
        reason = "Argo has no expression with Python's result for this"
        way = f"use + - * / and comparisons, {_IN_A_STEP}"
        if self.operator.startswith("an assignment") or self.operator in ("del", "with", "a call"):
            reason, way = "known only when the pipeline runs", "do this inside a step"
        elif self.operator in (">>", "<<"):
            reason = "tasks are not put in order by arrows"
            way = "pass the output on, or without data: `step.options(after=[first])(...)`"
        return {**super().words(), "reason": reason, "way": way}


class CannotOperate(Finding):
    """An operator on types that it does not fit."""

    code = "FD211"
    title = "`{operator}` does not work on {left} and {right}"
    label = "{left} {operator} {right}"
    help = "{way}"
    operator: str
    left: str
    right: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out that fits the types."""
        way = f"use numbers, texts or conditions on both sides, {_IN_A_STEP}"
        sides = {self.left, self.right}
        if any(side.endswith(" | None") for side in sides):
            way = "give the value that may be None a default first: `either(value, default)`"
        elif self.operator == "+" and "str" in sides and sides & {"int", "float"}:
            way = 'write an f-string: f"{text}{number}"'
        elif self.operator == "/" and self.left == "Path":
            way = "pass the folder, and take the file out of it inside the step"
        elif "Step" in sides:
            way = "call the step first, and compare what it returned"
        return {**super().words(), "way": way}


class CannotCompare(CannotOperate):
    """An order between types that have none."""

    code = "FD212"
    title = "{left} and {right} cannot be compared with `{operator}`"

    def words(self) -> dict[str, str]:
        """The fields, and the way out that fits the types."""
        found = super().words()
        optional = any(side.endswith(" | None") for side in (self.left, self.right))
        return found if optional else {**found, "way": "compare two numbers or two texts"}


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
    label = "{reason}"
    help = "pass it to the step as an argument of its own, and make the text there"
    type: str

    def words(self) -> dict[str, str]:
        """The fields, and what is wrong with the text of the value."""
        reason = "Python and Argo write it differently"
        if self.type == "path on a volume":
            reason = "only the pod knows where it is mounted"
        elif self.type.startswith("float"):
            reason = "Argo writes 1.0 as 1, and Python does not"
        return {**super().words(), "reason": reason}


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
    help = "for a value of the run pass the result or parameter itself; braces that are meant so, add inside a step"


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
    value: float


class LocalFile(Finding):
    """A path of this machine where a file of the cluster is wanted."""

    code = "FD222"
    title = "`{path}` is {what}"
    label = "not a file of the cluster"
    help = "{way}"
    path: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out: an address has a word that fetches it."""
        word = fetched(self.path)
        if word:
            what, way = (
                "an address, which no step fetches by itself",
                f"say where the file comes from: `{word}`",
            )
            return {**super().words(), "what": what, "way": way}
        what = "a path on this machine, and the step runs in the cluster"
        inner = self.path
        if inner[:1] in "/~.\\":
            inner = inner.replace("\\", "/").rstrip("/").rpartition("/")[2].lstrip("~.") or "folder"
        way = f'pass the output of a step, or a path on a volume: `Volume("claim") / "{inner}"`'
        return {**super().words(), "what": what, "way": way}


def fetched(address: str) -> str:
    """The word of the language for what lies at an address; empty for what is no address."""
    scheme, colon, rest = address.partition(":")
    where = rest.lstrip("/")
    if scheme.startswith("git@") or scheme in ("git", "ssh", "git+ssh", "git+https"):
        return f'Git("{address.removeprefix("git+")}", revision="...")'
    if not colon or not rest.startswith("/"):
        return ""
    bucket, _, key = where.partition("/")
    match scheme:
        case "s3" | "s3a" | "s3n":
            return f'S3("{key}", "{bucket}")'
        case "gs" | "gcs":
            return f'GCS("{key}", "{bucket}")'
        case "abfs" | "abfss" | "wasb" | "wasbs" | "az" | "azure":
            return 'Azure(blob, container, "https://ACCOUNT.blob.core.windows.net")'
        case "http" | "https":
            return (
                f'Git("{scheme}://{where}", revision="...")'
                if where.endswith(".git")
                else f'Http("{scheme}://{where}")'
            )
        case _:
            return ""


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
    label = "{reason}"
    help = "{way}"
    name: str
    type: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out that fits the name."""
        reason = "only outputs of records have fields here"
        way = _said_before(self.name) or f"use `.{self.name}` inside a step, which gets the value itself"
        if self.name in ("output", "outputs", "result", "parameters", "artifacts"):
            way = "pass the value as it is; to hand on several, let the step return a NamedTuple or dataclass"
        elif self.type == "Path":
            reason = "the file is there only when the pipeline runs"
            way = f"pass it to a step, which sees it as a Path, and use `.{self.name}` there"
        return {**super().words(), "reason": reason, "way": way}


class NoItem(Finding):
    """A part of a value that has none such, or none that Argo could take."""

    code = "FD225"
    title = "{key} does not work on a run-time {type}"
    label = "{reason}"
    help = "{way}"
    key: str
    type: str
    files: bool = False

    def words(self) -> dict[str, str]:
        """The fields, and the way out for such an index."""
        way = "index a list with a number and a dict with a text; take files out of a folder inside a step"
        if self.files:
            way = "pass all of it to a step, and take that there; or let the step return it as an output of its own"
            return {**super().words(), "reason": "its files are handed on together", "way": way}
        name = self.key.strip("[]'\"")
        if (
            name != self.key[1:-1]
            and name.isidentifier()
            and self.type.isidentifier()
            and self.type[:1].isupper()
        ):
            way = f"take a field of it: `.{name}`"
        return {**super().words(), "reason": "no such element", "way": way}


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
    label = "{caller}"
    help = "call steps in the body itself: tasks run in parallel without threads"
    pipeline: str = ""

    def words(self) -> dict[str, str]:
        """The fields, and what is known of the caller."""
        body = f"the body of `{self.pipeline}` gives a step to threads"
        return {**super().words(), "caller": body if self.pipeline else "called from another thread"}


class NotATask(Finding):
    """`after=` with something that is not the result of a step."""

    code = "FD228"
    title = "`after` takes results of steps, not {have}"
    label = "not the result of a step in this pipeline"
    help = "pass what the calls returned: `after=[first, second]`"
    have: str


class BodyStopped(Finding):
    """An exception in a pipeline's body, after other mistakes."""

    code = "FD229"
    title = "the body of `{name}` stopped here: {error}"
    label = "what follows was not looked at"
    help = "correct the other mistakes first: this may come from them"
    name: str
    error: str


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
    """A condition that is no bool."""

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
    help = "use Python's own `if` or `or`"


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
        return {**super().words(), **_plain(self.want, self.have)}


class Recursion(Finding):
    """A pipeline that calls itself."""

    code = "FD235"
    title = "the pipeline `{name}` calls itself"
    label = "the body is run once while compiling, so it cannot end"
    help = "use fan_out or sweep for repetition, or Python's own loop over known values"
    name: str


class WrongReturn(Finding):
    """A pipeline or a step returns something else than it says."""

    code = "FD236"
    title = "`{name}` returns {have}, and its annotation says {want}"
    label = "says {want}"
    help = "return {want}, or change the annotation"
    name: str
    want: str
    have: str

    def words(self) -> dict[str, str]:
        """The fields, with types as the user knows them."""
        return {**super().words(), **_plain(self.want, self.have)}


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

    def words(self) -> dict[str, str]:
        """The fields, with types as the user knows them."""
        return {**super().words(), **_plain(self.want, self.have)}


class NotABodyOfCalls(Finding):
    """A pipeline whose function does not run when it is called."""

    code = "FD239"
    title = "the pipeline `{name}` is {kind}"
    label = "its body would not run while compiling"
    help = "write a plain function, without `async` and `yield`: its tasks run in parallel as it is"
    name: str
    kind: str


class NotABody(Finding):
    """`fan_out` or `sweep` of something that is neither a step nor a pipeline."""

    code = "FD240"
    title = "a loop runs a step or a pipeline, not {have}"
    label = "neither a step nor a pipeline"
    help = "put @step(...) or @pipeline above the function, and pass it without calling it"
    have: str


class OverNotNamed(Finding):
    """`over=` without the names of parameters."""

    code = "FD241"
    title = "`over` is {have}, and does not say which parameter it is for"
    label = "no parameter is named"
    help = 'name it: over={{"{parameter}": ...}}'
    have: str
    parameter: str


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
        return {**super().words(), "meant": suggest(self.name, self.known) or "it takes no arguments"}


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
    help = "{way}"
    name: str
    have: str
    want: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out: a number may be meant as a count."""
        way = f"pass {self.want}: one written here, or one that a step returns"
        if self.have == "int" and self.want in ("list[int]", "list[float]"):
            way = f'for the numbers 0, 1, 2 ... below it write `over={{"{self.name}": numbers(...)}}`'
        return {**super().words(), "way": way}


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
    help = "write a number that is known while compiling, such as {word}=4"
    word: str
    have: str


class NotASpace(Finding):
    """A parameter of a sweep with neither a space nor a list."""

    code = "FD250"
    title = "the space of `{name}` is {have}, not a search space or a list"
    label = "this is {have}"
    help = "write choice(...), uniform(low, high), loguniform(low, high), integer(low, high) or a list"
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
    title = "no value can be drawn from {space}"
    label = "{problem}"
    help = "write {form}"
    space: str
    problem: str
    form: str


class SpaceType(Finding):
    """A space that draws another type than the parameter takes."""

    code = "FD253"
    title = "{space}(...) draws {gives}, and `{name}` is {want}"
    label = "draws {gives}"
    help = "use {instead}, or change the annotation of `{name}`"
    name: str
    space: str
    gives: str
    want: str

    def words(self) -> dict[str, str]:
        """The fields, and the space that fits the parameter."""
        instead = "integer(low, high) or choice(...)" if self.want.startswith("int") else "choice(...)"
        return {**super().words(), "instead": instead}


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
    title = "`search` cannot be {have}"
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
    title = "the objective is {have}, not maximize(...) or minimize(...)"
    label = "this is {have}"
    help = 'write objective=maximize("output") or minimize("output")'
    have: str


class UnknownMetric(Finding):
    """An objective that is no output of the trial."""

    code = "FD262"
    title = "`{step}` has no {shown} to judge its trials by"
    label = "{meant}"
    help = "name one of its outputs in the objective"
    name: str
    step: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the output that was probably meant."""
        shown = f"output `{self.name}`" if self.name else "single output"
        meant = suggest(self.name, self.known) or "it returns nothing"
        return {**super().words(), "shown": shown, "meant": meant}


class MetricNotANumber(Finding):
    """An objective that is no number."""

    code = "FD263"
    title = "the metric `{name}` is {type}, not a number"
    label = "trials are compared by this"
    help = "return it as float or int"
    name: str
    type: str


class BadSeed(Finding):
    """A seed that is not a whole number."""

    code = "FD264"
    title = "`seed` is {have}, not a whole number"
    label = "this is {have}"
    help = "write a whole number: the same seed draws the same trials again"
    have: str


class TooFewTrials(Finding):
    """A bound on the trials that have to succeed that is above their number."""

    code = "FD265"
    title = "`min_success` is {bound}, and the sweep has {trials} trials"
    label = "the run would always fail"
    help = "write {trials} or less"
    bound: int
    trials: int


class WrongUnpacking(Finding):
    """A result unpacked into another number of names than it has values."""

    code = "FD248"
    title = "{of} has {given} values, and is unpacked into {wanted}"
    label = "{wanted} names for {given} values"
    help = "name every value, or take one of them by its field or index"
    of: str
    given: int
    wanted: int


class ConditionAlone(Finding):
    """A condition that no `with` belongs to."""

    code = "FD249"
    title = "`{word}` without `with` has no effect"
    label = "no task depends on this"
    help = "write `with {word}(...):`, and call the steps in its block"
    word: str


class HugeNumber(Finding):
    """A whole number that Argo cannot compute with."""

    code = "FD266"
    title = "{value} does not fit in 64 bits, and Argo cannot compute with it"
    label = "too large for Argo"
    help = "compute with it inside a step, which gets it as an argument of its own or makes it"
    value: int


class RunTimeKind(Finding):
    """A `match` or `isinstance` that asks of a run-time value what no stand-in can see."""

    code = "FD267"
    title = "what a run-time {type} is cannot be asked while compiling"
    label = "known only when the pipeline runs"
    help = "use `with when(...):`, give an optional value a default with `either`, or ask inside a step"
    type: str


class RunTimeIdentity(Finding):
    """A run-time value compared by identity."""

    code = "FD268"
    title = "`{text}` compares objects while compiling, and a run-time value is another one"
    label = "always the same answer"
    help = "compare with `==`: `with when(value == ...):`"
    text: str


class OutOfPlace(Finding):
    """A word that has no meaning where it stands: in the body of a pipeline, or outside of one."""

    code = "FD269"
    title = "{problem}"
    label = "{where}"
    help = "{way}"
    problem: str
    where: str
    way: str


class NoTaskToEnd(Finding):
    """The end of something that is no task of this pipeline."""

    code = "FD709"
    title = "`{word}` takes the result of a task of this pipeline, not {have}"
    label = "not the result of a task"
    help = (
        "pass what the call of a step, a pipeline or a loop returned; without it, the end of the run is meant"
    )
    word: str
    have: str


class EndInsideEnd(Finding):
    """The end of a run asked for among the tasks that run at its end."""

    code = "FD710"
    title = "`on_exit()` stands in a block that itself runs at the end of the run"
    label = "the run has ended already"
    help = "call its tasks in the block around it"


class EndOfAPart(Finding):
    """The end of a run asked for in a pipeline that another one calls."""

    code = "FD711"
    title = "`{word}()` is for the end of a run, and `{pipeline}` is called as a part of one"
    label = "Argo knows one end of a run"
    help = "write `with {word}(result):` where `{pipeline}` is called, with a result of that call"
    word: str
    pipeline: str


class EndUnderCondition(Finding):
    """The end of a run asked for inside a condition."""

    code = "FD712"
    title = "`{word}()` stands in a block that runs only under a condition"
    label = "a run ends whether the condition holds or not"
    help = "take it out of that block, and put a `when` inside of it"
    word: str


class SeveralEnds(Finding):
    """The end of several tasks where one is asked for."""

    code = "FD713"
    title = "`{word}` takes a result of one task, and this value is made of several"
    label = "of several tasks"
    help = "write one block for each of them"
    word: str


class NotACount(Finding):
    """Something that is no whole number where a count of the run is wanted."""

    code = "FD720"
    title = "`numbers` takes a whole number, not {have}"
    label = "this is {have}"
    help = "pass the int that a step returned, or an int parameter of the pipeline"
    have: str


class NotResults(Finding):
    """Something that is not the results of a loop."""

    code = "FD721"
    title = "`failed` takes the results of a loop, not {have}"
    label = "not what a loop returned"
    help = "pass what `fan_out(..., keep_going=True)` returned, or `.results` of a sweep"
    have: str


class NeverIncomplete(Finding):
    """The failed items of a loop that fails as soon as one of its items does."""

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


class TooManyToName(Finding):
    """The failed items of a very long loop."""

    code = "FD724"
    title = "`failed` of a loop with {items} items: {most} is the most"
    label = "too many for an expression of Argo"
    help = "let every item return its own number, and see in a step which are missing"
    items: int
    most: int


class NeverEqual(Finding):
    """A run-time value is compared with what it never is."""

    code = "FD760"
    title = "the value is never {have}"
    label = "{answer}"
    help = "compare with one of {values}"
    have: str
    answer: str
    near: str | None
    values: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the value that was probably meant."""
        answer = f"did you mean {self.near}?" if self.near else self.answer
        return {**super().words(), "answer": answer}


class UndefinedInBody(Finding):
    """A name that is nowhere, in the body of a pipeline or at the top of the file."""

    code = "FD761"
    title = "`{name}` is not defined"
    label = "{meant}"
    help = "assign it above this line, import it, or make it a parameter"
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the name that was probably meant."""
        close = near(self.name, self.known)
        return {**super().words(), "meant": f"did you mean `{close}`?" if close else "there is no such name"}


class UsedBefore(Finding):
    """A value is used above the line that makes it: two tasks cannot wait for each other."""

    code = "FD762"
    title = "`{name}` is used before it has a value"
    label = "not made yet"
    help = "call first what makes `{name}`; tasks that wait for each other would wait for ever"
    name: str


class UnknownField(Finding):
    """A word of the language is asked for a field that it does not have."""

    code = "FD763"
    title = "{word} has no {noun} `{name}`"
    label = "{meant}"
    help = "{way}"
    word: str
    name: str
    known: tuple[str, ...]
    noun: str = "field"
    uncalled: str = ""

    def words(self) -> dict[str, str]:
        """The fields, and what was probably meant: of a step or pipeline that was not called, a field of its result."""
        way, meant = f"take one of the {self.noun}s that there are", suggest(self.name, self.known)
        if self.uncalled and near(self.name, self.known) is None:
            way = f"call it, and take the field of what it returns: `{self.uncalled}(...).{self.name}`"
            meant = "this is not called"
        return {**super().words(), "meant": meant, "way": way}


class UnknownWord(Finding):
    """A word of the language is given an argument that it does not take."""

    code = "FD764"
    title = "`{word}` takes no argument `{name}`"
    label = "{meant}"
    help = "use one of the arguments of `{word}`, or leave it out"
    word: str
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the argument that was probably meant."""
        return {**super().words(), "meant": suggest(self.name, self.known)}


class WrongCall(Finding):
    """A word of the language is called with too few arguments, or too many by position."""

    code = "FD765"
    title = "`{word}` {problem}"
    label = "the arguments do not fit"
    help = "it is `{form}`"
    word: str
    problem: str
    form: str
