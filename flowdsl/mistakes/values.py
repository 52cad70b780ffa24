"""Findings about operations that a run-time value does not support."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, Unknown
from flowdsl.mistakes.arguments import ANNOTATE
from flowdsl.mistakes.words import OUTPUTS, said_before
from flowdsl.values.expr import COMPARISONS
from flowdsl.values.textual import by_name


class UnknownOutput(Unknown):
    """A field that the result of a step does not have."""

    code = "FD206"
    title = "{of} has no output `{name}`"
    help = "{way}"
    of: str

    def words(self) -> dict[str, str]:
        """The fields, the output that was probably meant, and the way out."""
        way = said_before(self.name) or f"take one of the fields of {self.of}"
        return {**super().words(), "way": way}


class NothingMade(Finding):
    """Something is done with the result of a step that returns nothing, or does not say what it returns."""

    code = "FD380"
    title = "`{maker}` is not annotated to return anything, so there is no value here"
    label = "this is None in every run"
    help = "let `{maker}` return the value, and annotate it, such as `-> int`; only to wait: `.options(after=[...])`"
    maker: str


class RunTimeCondition(Finding):
    """Python asked for the truth of a value that exists only at run time."""

    code = "FD207"
    title = "the truth of a run-time value is not known while compiling"
    label = "known only when the pipeline runs"
    help = "{way}"
    asked: str = ""
    always: str = ""  # the type, if all its values are true

    def words(self) -> dict[str, str]:
        """The fields, and the way out for the questions that were asked."""
        if self.always:
            way = f"every {self.always} is true: leave the condition out, or ask whether it is None: `is not None`"
            return {**super().words(), "way": way}
        ways = [_TRUTH[one] for one in self.asked.split(", ")] if self.asked else [*_TRUTH.values()][:5]
        return {**super().words(), "way": "; ".join(ways)}


_TRUTH = {
    "if": "write `with when(...):` for `if`, and `with otherwise():` for `else`",
    "and": "write `(a) & (b)` for `a and b`",
    "or": "write `(a) | (b)` for `a or b`; for a default `either(value, default)`",
    "not": "write `with unless(...):` for `with when(not ...):`, or compare with `!=`",
    "chain": "write `(x < y) & (y < z)` for `x < y < z`",
    "choice": "call what each side needs under `when` and `otherwise`, and choose with `either(one, other)`",
    "unless": "write `with unless(...):` for `if not ...:`",
    "while": "repeat over items with `fan_out` or `sweep`, or loop inside a step",
    "in": "write `(x == 1) | (x == 2)` for `x in (1, 2)`, and `(x != 1) & (x != 2)` for `x not in (1, 2)`",
    "match": "write `with when(value == ...):` for each `case`",
    "filter": "let a step return the list without the others",
    "assert": "check it inside a step, which then fails",
    "bool": "compare the value, as in `value != 0` or `value != None`: the result is a bool of the run",
    "order": "pass the values to a step, which compares them; of the trials of a `sweep`, `.best` is the best",
}
"""The replacement, by question; if that is unknown, the first ones help."""


class RunTimeLoop(Finding):
    """Python looped over, counted, searched or unpacked a value that exists only at run time."""

    code = "FD208"
    title = "a run-time value cannot be {what} while compiling"
    label = "known only when the pipeline runs"
    help = "{way}"
    what: str
    type: str = ""
    function: str = ""  # the builtin that got it, to read its elements

    def words(self) -> dict[str, str]:
        """The fields, and the remedy: unpacking means several outputs."""
        way = (
            "to run a step for each element write `fan_out(step, over={...})`; else pass the value to a step"
        )
        if self.what == "looped over" and self.type.startswith("list["):
            way = f"{way} that takes {self.type}, and loop there"
        if self.what == "unpacked":
            way = (
                f"take it as one {self.type}, `value = ...`; to pass on several, let the step return a NamedTuple "
                "or dataclass"
            )
            if self.type.startswith("list["):
                way = "take its items by their numbers, `value[0]`; or let the step return a tuple or NamedTuple"
        elif self.function:
            way = f"pass the value to a step, and call `{self.function}` there" + (
                "; to run a step for each element write `fan_out(step, over={...})`"
                * (self.function == "len")
            )
        return {**super().words(), "way": way}


class RunTimeConversion(Finding):
    """Python converted a value that exists only at run time."""

    code = "FD209"
    title = "a run-time value cannot be {what} while compiling"
    label = "known only when the pipeline runs"
    help = "{way}"
    what: str

    def words(self) -> dict[str, str]:
        """The fields, and the remedy: a count needs a loop of the run."""
        way = "pass the value on as it is, and convert it inside a step"
        if self.what.startswith("formatted"):
            way = 'write an f-string without a format, f"{text}-{number}", or make the text inside a step'
        if self.what.startswith("given"):
            way = "pass the value to a step, and call the function there"
        if "range()" in self.what:
            way = (
                'to run a step that many times, write `fan_out(step, over={"part": numbers(count)})`,'
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
    number: bool = True  # whether the value is a number

    def words(self) -> dict[str, str]:
        """The fields, and why it does not work."""
        reason = "Argo has no expression with Python's result for this"
        way = "write a step that takes the value and returns the result"
        if self.number:
            way = f"use + - * / and comparisons, {_IN_A_STEP}"
        if self.operator.startswith("the key "):
            reason, way = "not there in every run", "pass all of it to a step, which looks for the key"
        elif self.operator == "with":
            reason = "a call begins no block"
            way = "write `with when(...):` for a condition; a loop is `fan_out(step, over={...})`, without a block"
        elif self.operator.startswith("an assignment") or self.operator in ("del", "a call"):
            reason, way = "known only when the pipeline runs", "do this inside a step"
        elif self.operator == "~":
            way = "write `with unless(...):` for `with when(~...):`, or compare: `value == False`"
        elif self.operator == "a slice" or self.operator.startswith("an index"):
            way = "write a step that takes all of it and returns the part"
        elif self.operator.startswith("an operation on what"):
            reason = "all of them would stand in one expression"
            way = "write a step that takes the values as a list, and returns the result"
        elif self.operator.startswith("`either` of records"):
            reason = "what is there of it is not known to Argo"
            way = (
                "choose between the fields that are needed, `either(one.name, other.name)`; or call a step with it"
                " in each branch, and choose between what these return"
            )
        elif self.operator.startswith("`either` of several files"):
            reason = "which of them are there is not known to Argo"
            way = "pass both to a step, which sees whether the first is None, and returns what is to be used"
        elif self.operator in (">>", "<<"):
            reason = "tasks are not put in order by arrows"
            way = "pass the output on, or without data: `step.options(after=[first])(...)`"
        return {**super().words(), "reason": reason, "way": way}


class HiddenFunction(Finding):
    """A parameter of a pipeline used where the step or pipeline of the same name is meant."""

    code = "FD396"
    title = "`{name}` is a parameter of `{pipeline}`, and hides the {what} `{name}`"
    label = "the value of the parameter"
    help = "give the parameter another name"
    name: str
    pipeline: str
    what: str


class CannotOperate(Finding):
    """An operator on types that it does not fit."""

    code = "FD211"
    title = "`{operator}` does not work on {left} and {right}"
    label = "{left} {operator} {right}"
    help = "{way}"
    operator: str
    left: str
    right: str
    members: tuple[str, ...] = ()  # for an Enum on one side: its members as source text
    files: bool = False  # whether a side is a file, or has files, and may be None

    def words(self) -> dict[str, str]:
        """The fields, and the remedy for these types."""
        way = f"use numbers, strings or conditions on both sides, {_IN_A_STEP}"
        sides = {self.left, self.right}
        if self.members and self.operator in ("==", "!="):
            way = f"compare with {' or '.join(self.members[:6])}{' ...' if len(self.members) > 6 else ''}"
        elif "Any" in sides:
            way = ANNOTATE
        elif self._has_texts():
            way = (
                "let a step take both, compare them and return a bool: their texts do not compare as they do"
            )
        elif self.files:
            way = "pass it to a step that takes it as it is, or returns as a bool whether it is there"
        elif any(side.endswith(" | None") for side in sides):
            way = "give the value that may be None a default first: `either(value, default)`"
        elif self.operator == "+" and "str" in sides and sides & {"int", "float"}:
            way = 'write an f-string: f"{text}{number}"'
        elif self.operator == "+" and all(side.startswith("list") for side in sides):
            way = "pass each to the step as an argument of its own, and join them there"
        elif self.operator == "/" and self.left == "Path":
            way = "pass the folder, and take the file out of it inside the step"
        elif "Step" in sides:
            way = "call the step first, and compare what it returned"
        elif self.operator in "&|" and sides & {"int", "float", "str"}:
            way = f"put each comparison into parentheses: `(a > 1) {self.operator} (b < 2)`"
        return {**super().words(), "way": way}

    def _has_texts(self) -> bool:
        """Whether values are compared of which Argo knows texts that do not compare as they do."""
        rows = [by_name(side.removesuffix(" | None")) for side in (self.left, self.right)]
        return self.operator in COMPARISONS and any(row is not None and not row.canonical for row in rows)


class CannotCompare(CannotOperate):
    """An order between types that have none."""

    code = "FD212"
    title = "{left} and {right} cannot be compared with `{operator}`"

    def words(self) -> dict[str, str]:
        """The fields, and the remedy for these types."""
        found = super().words()
        if self.members:
            return {
                **found,
                "way": "compare with `==`, several joined by `|`, or let a step compare and return a bool",
            }
        told = any(side == "Any" or side.endswith(" | None") for side in (self.left, self.right))
        return found if told or self._has_texts() else {**found, "way": "compare two numbers or two strings"}


class RunTimeKey(Finding):
    """A run-time value as a dict key, set member or argument of a cache."""

    code = "FD213"
    title = "a run-time value cannot be a key or a member of a set while compiling"
    label = "its value is known only when the pipeline runs"
    help = "look it up, or make the dict or set, inside a step"


_PLAIN = {one.__name__: one for one in (bool, int, float, str, list, dict)}


class NoFields(Finding):
    """An attribute of a value that has none."""

    code = "FD224"
    title = "a run-time {type} has no attribute `{name}` while compiling"
    label = "{reason}"
    help = "{way}"
    name: str
    type: str

    member: str = ""  # for an Enum: the notation of a member
    keyed: bool = False  # of a TypedDict

    def words(self) -> dict[str, str]:
        """The fields, and the remedy for this name."""
        reason = "only outputs of records have fields here"
        way = f"use `.{self.name}` inside a step, which gets the value itself"
        plain = _PLAIN.get(self.type.partition("[")[0])
        if told := said_before(self.name):
            way = told
        elif self.member and self.name in ("value", "name"):
            way = (
                f"pass the member as it is, or compare it, as in `== {self.member}`; "
                f"or use `.{self.name}` inside a step"
            )
        elif (
            (self.keyed or self.type.startswith("dict["))
            and not hasattr(dict, self.name)
            and self.name not in OUTPUTS
        ):
            reason = "a dict has elements, not fields"
            way = f'take the element of that name, `["{self.name}"]`; a record has fields'
        elif self.name == "get" and self.type.startswith("dict["):
            reason = "known only when the pipeline runs"
            way = 'take a key that is always there as an element, `["..."]`; else use `.get` inside a step'
        elif self.name in ("items", "keys", "values") and self.type.startswith("dict["):
            reason = "known only when the pipeline runs"
            way = (
                f"use `.{self.name}` inside a step; to run a step for each, let that return a list, and write "
                "`fan_out(step, over={...})`"
            )
        elif self._of_an_element():
            reason = "a list has elements, not fields"
            way = f"take it from an element, `[0].{self.name}`, or pass all of them to a step"
        elif self.name in OUTPUTS:
            way = "pass the value as it is; to pass on several, let the step return a NamedTuple or dataclass"
        elif plain is not None and not hasattr(plain, self.name):
            way = f"pass the value as it is: it has no `{self.name}` inside a step either"
        elif self.type == "Path":
            reason = "the file is there only when the pipeline runs"
            way = f"pass it to a step, which sees it as a Path, and use `.{self.name}` there"
        return {**super().words(), "reason": reason, "way": way}

    def _of_an_element(self) -> bool:
        """Whether the elements of a list may have such a field."""
        if not self.type.startswith("list[") or hasattr(list, self.name) or self.name in OUTPUTS:
            return False
        return self.type[len("list[") : -1].partition("[")[0] not in (*_PLAIN, "Path")


class NoItem(Finding):
    """An item of a value that has no such item, or none that Argo could take."""

    code = "FD225"
    title = "{key} does not work on a run-time {type}"
    label = "{reason}"
    help = "{way}"
    key: str
    type: str
    files: bool = False
    size: int = 0  # the number of elements, if it is known
    keys: tuple[str, ...] = ()  # the possible keys, if they are few

    def words(self) -> dict[str, str]:
        """The fields, and the remedy for such an index."""
        if self.keys and not self.files:
            way = f"take one of its keys: {' or '.join(self.keys[:6])}{' ...' if len(self.keys) > 6 else ''}"
            return {**super().words(), "reason": "no such element", "way": way}
        if self.size:
            items = f"{self.size} items" if self.size > 1 else "1 item"
            holder = "it" if self.type.startswith("tuple[") else "the loop"
            way = f"the items are counted from 0: take one up to [{self.size - 1}], or [-1] for the last"
            return {**super().words(), "reason": f"{holder} has {items}", "way": way}
        way = "index a list with a number and a dict with one of its keys; take files out of a folder inside a step"
        if self.type == "str":
            way = "write a step that takes the text and returns the part"
            return {
                **super().words(),
                "reason": "Argo has no expression with Python's result for this",
                "way": way,
            }
        if self.files:
            way = (
                "take it in the pipeline that calls the Python step which returned the files, and pass it on; or "
                "pass all of them to a step, and take it there"
            )
            return {**super().words(), "reason": "its files are passed on together", "way": way}
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
    title = "{what} was given to code that needs its value now"
    label = "{problem}"
    help = "{way}"
    problem: str
    what: str = "a run-time value"
    instead: str = ""

    def words(self) -> dict[str, str]:
        """The fields, and the remedy."""
        way = self.instead or "pass the value to a step, and do this inside it"
        if self.what.endswith("Volume"):
            way = 'write a path on it as `volume / "folder/file"`, pass that to a step, and do this inside it'
        return {**super().words(), "way": way}


class WrongUnpacking(Finding):
    """A result unpacked into a different number of names than it has values."""

    code = "FD248"
    title = "{of} has {given} values, but is unpacked into {wanted}"
    label = "{wanted} names for {given} values"
    help = "name every value, or take one by its field or index"
    of: str
    given: int
    wanted: int


class RunTimeKind(Finding):
    """A `match` or `isinstance` on a run-time value, which cannot be answered while compiling."""

    code = "FD267"
    title = "the type of a run-time {type} cannot be tested while compiling"
    label = "known only when the pipeline runs"
    help = "use `with when(...):`, give an optional value a default with `either`, or ask inside a step"
    type: str


class RunTimeIdentity(Finding):
    """A run-time value compared by identity."""

    code = "FD268"
    title = "`{text}` compares identities while compiling, when a run-time value is only a stand-in"
    label = "always the same answer"
    help = "compare with `==`: `with when(value == ...):`"
    text: str


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
