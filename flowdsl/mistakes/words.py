"""Findings about how the functions of the language itself are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.diagnostic import Finding, near, suggest

if TYPE_CHECKING:
    from collections.abc import Iterable


class UnknownField(Finding):
    """A word of the language, an Enum, a module or another object has no such attribute."""

    code = "FD763"
    title = "{word} has no {noun} `{name}`"
    label = "{meant}"
    help = "{way}"
    word: str
    name: str
    known: tuple[str, ...]
    noun: str = "field"
    uncalled: str = ""
    gives: str = ""  # what it returns, if that has no such field

    def words(self) -> dict[str, str]:
        """The fields, and what was probably meant: of a step or pipeline that was not called, a field of its result."""
        way, meant = f"take one of the {self.noun}s that there are", suggest(self.name, self.known)
        if self.uncalled and self.gives and self.name in _METHODS:
            way = _METHODS[self.name].format(self.uncalled)
            meant = "this is called, and has no methods but `options`"
        elif self.noun == "word" and (word := _WORDS.get(self.name.replace("_", "").lower())):
            way, meant = word
        elif self.word == "a Sweep":
            way = "`.best` is what the best trial returned: let it return its parameters too, where they are needed"
        elif self.word == "an Ended":
            way = "`.status` is how it ended; what failed, and why, is in `run.failures`, in `with on_failure():`"
        elif self.uncalled and near(self.name, self.known) is None:
            way = f"call it, and take the field of what it returns: `{self.uncalled}(...).{self.name}`"
            objective = f'its name: `"{self.name}"`'
            if self.gives:
                way = f"call it: what `{self.uncalled}(...)` gives is {self.gives}, which has no such field"
                objective = "no name: `minimize()`" if self.gives in ("float", "int") else ""
            way = f"{way}; `minimize` and `maximize` take {objective}" if objective else way
            meant = "this is not called"
        return {**super().words(), "meant": meant, "way": way}


#: The replacements for methods of a step in other tools, which are no fields of its result.
_METHODS = {
    method: way
    for methods, way in (
        ("expand foreach map starmap", "to run it for each item write `fan_out({}, over={{...}})`"),
        ("apply_async call delay execute remote submit", "call it: `{}(...)`"),
        ("override partial with_options", "what one call has is written `{}.options(...)(...)`"),
    )
    for method in methods.split()
}


#: Words of other tools, without `_` and capitals: the way out, and what the word is here.
_WORDS = {
    name: (way, f"that is {word}")
    for word, way, names in (
        (
            "`step`",
            "write @step(...) above a function",
            "component containerop op pythoncomponent script task",
        ),
        (
            "`container`",
            "write @container(...) above a function",
            "containercomponent containerspec dockercomponent",
        ),
        (
            "`pipeline`",
            "write @pipeline above a function that calls steps",
            "dag flow flowspec graph job workflow",
        ),
        (
            "`pipeline`, whose options say what is written",
            "write @pipeline above a function, and compile it with `--as template` or `--as cron`",
            "clusterworkflowtemplate cronworkflow workflowtemplate",
        ),
        (
            "`fan_out`",
            "to run a step for each item write `fan_out(step, over={...})`",
            "foreach map parallel parallelfor",
        ),
        (
            "`when`",
            "write `with when(...):`, and call the steps in its block",
            "condition elif if switch",
        ),
        ("`otherwise`", "write `with otherwise():` after the block of `with when(...):`", "else"),
        ("`either`", "the value of whichever ran is `either(first, second)`", "coalesce oneof"),
        ("a list", "what `fan_out` gives is a list: pass it to a step that takes one", "collect collected"),
        ("`on_exit`", "write `with on_exit():`, and call the steps in its block", "exithandler"),
        (
            "a `Path`",
            "annotate a parameter or the result of a step as Path, and write `from pathlib import Path`",
            "artifact artifacts dataset input inputpath model output outputpath path",
        ),
        (
            "an ordinary parameter",
            "the parameters of the function are those of the workflow",
            "param parameter params",
        ),
        ("options of a step", 'write @step(cpu=2, memory="8Gi", gpu=1)', "resources"),
        ("an option of a step", "write @step(env={...})", "env environment"),
        ("an option of a step", 'write @step(secrets={"TOKEN": Secret(...)})', "secretenv"),
        ("`Retry`", 'write @step(retries=Retry(3, wait="30s"))', "backoff retrypolicy retrystrategy"),
        ("`GPU`", 'write @step(gpu=GPU(1, memory="40Gi"))', "accelerator accelerators"),
    )
    for name in names.split()
}


#: Names of arguments in other tools, without `_`.
_ARGUMENTS = {
    (word, name): argument
    for word, argument, names in (
        ("fan_out", "over", "foreach items withitems withparam"),
        (
            "fan_out",
            "parallel",
            "concurrency maxconcurrency maxconcurrent maxparallel maxworkers parallelism workers",
        ),
        ("fan_out", "keep_going", "continueonerror failfast ignoreerrors mayfail returnexceptions"),
        ("sweep", "over", "params searchspace space"),
        (
            "sweep",
            "parallel",
            "concurrency maxconcurrency maxconcurrent maxparallel maxworkers njobs parallelism workers",
        ),
        ("sweep", "trials", "maxtrials ntrials numsamples numtrials"),
        ("sweep", "objective", "direction goal maximize metric minimize mode"),
        ("sweep", "search", "algorithm method sampler strategy"),
        ("Retry", "limit", "attempts count maxattempts maxretries number retries times"),
        ("Retry", "wait", "backoff delay duration interval initialdelay retrydelay"),
        ("Retry", "factor", "backofffactor exponential exponentialbase multiplier"),
        ("Retry", "longest", "cap maxdelay maxinterval maxwait"),
        ("Retry", "within", "maxduration timeout"),
        ("Retry", "policy", "on retrypolicy when"),
        ("GPU", "product", "card kind model name type"),
        ("GPU", "count", "gpus n num number"),
        ("GPU", "memory", "mem vram"),
        ("Cache", "max_age", "expires expiry maxstaleness ttl"),
    )
    for name in names.split()
}


def argument_for(word: str, name: str, known: Iterable[str]) -> str | None:
    """The argument of a word that is probably meant by an unknown name, or None."""
    return _ARGUMENTS.get((word, name.replace("_", "").lower())) or near(name, known)


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
        close = argument_for(self.word, self.name, self.known)
        meant = suggest(self.name, self.known) if close is None else f"did you mean `{close}`?"
        return {**super().words(), "meant": meant}


class WrongCall(Finding):
    """A word of the language is called with too few arguments, or too many by position."""

    code = "FD765"
    title = "`{word}` {problem}"
    label = "{what}"
    help = "it is `{form}`"
    word: str
    problem: str
    form: str

    def words(self) -> dict[str, str]:
        """The fields, and what is wrong at the place of the call."""
        what = "without parentheses" if self.problem == "is not called" else "the arguments do not fit"
        if "begins no block" in self.problem:
            what = "no block for `with`"
        return {**super().words(), "what": what}


class UnnamedOption(Finding):
    """An option that is written without its name, in a decorator or in `.options`."""

    code = "FD349"
    title = "`{word}` takes its options by name"
    label = "{meant}"
    help = "{way}"
    word: str
    text: bool

    def words(self) -> dict[str, str]:
        """The fields, and the option that was probably meant."""
        meant_by_text = "name" if self.word.endswith(".options") else _MEANT.get(self.word, "")
        name = meant_by_text if self.text else ""
        meant = f"did you mean `{name}=...`?" if name else "which option is this?"
        way = f"write its name in front of it: {self.word}({name or 'NAME'}=...)"
        return {**super().words(), "meant": meant, "way": way}


#: The option of a decorator that a text most likely belongs to.
_MEANT = {"@step": "image", "@container": "image", "@pipeline": "name"}


OUTPUTS = ("output", "outputs", "result", "parameters", "artifacts")
"""Names in other tools for the outputs of a task."""


def said_before(name: str) -> str:
    """The remedy for a method of a task in other tools that sets what is an option of a step here."""
    if name in ("after", "set_upstream", "set_downstream"):
        return "say it before the call: `step.options(after=[first])(...)`"
    if name == "options" or name.startswith(("set_", "add_", "with_")):
        option = next((option for part, option in _SET.items() if part in name), "")
        given = f"{option}=..." if option else "..."
        return f"say it before the call: `step.options({given})(...)`, or as an option of the step"
    return ""


_SET = {
    "memory": "memory",
    "cpu": "cpu",
    "gpu": "gpu",
    "accelerator": "gpu",
    "retr": "retries",
    "cach": "cache",
    "name": "name",
    "secret": "secrets",
    "env": "env",
    "node": "node",
    "affinity": "where",
    "toleration": "tolerations",
    "timeout": "timeout",
    "volume": "mounts",
    "label": "labels",
    "annotation": "annotations",
}
"""The option for a method of a task, by a part of its name."""
