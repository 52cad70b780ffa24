"""A sweep over a pipeline, as the command line asks for it: another pipeline around it.

That is written in Python and read as a file of its own. So what the language finds wrong with spaces, metrics and
counts is found here too, and is shown at the words of the command line that it was made from.
"""

from __future__ import annotations

import ast
import json
import keyword
import shlex
from math import isfinite
from types import ModuleType
from typing import TYPE_CHECKING, Any

import flowdsl
from flowdsl.compiler.findings.control import OfARun
from flowdsl.compiler.load import Loaded
from flowdsl.compiler.lowering.pick_script import PYTHON
from flowdsl.diagnostic import Diagnostic, Related, suggest, together
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.grammar.space import metric, space
from flowdsl.loop import own_words
from flowdsl.mistakes.blocks import EndOfAPart
from flowdsl.options import ScheduleOptions
from flowdsl.pipeline import Pipeline, PipelineDef
from flowdsl.places.place import Span
from flowdsl.space import Gp, Tpe
from flowdsl.step import Step, StepDef
from flowdsl.values import types as t
from flowdsl.values.signature import MISSING, Signature
from flowdsl.values.texts import WrongValue, meant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flowdsl.grammar.space import Value
    from flowdsl.places.place import Place
    from flowdsl.space import Kind
    from flowdsl.values.signature import Parameter

SPACES = ("choice", "integer", "uniform", "quniform", "loguniform", "normal")
"""The names of search spaces."""
_FORM = "write NAME=SPACE, as in rate=loguniform(1e-4,1e-1) or layers=2,4,8"
_METRIC = "write NAME:max or NAME:min, or max or min where the trial has one result"
_OWN = frozenset(own_words(flowdsl.sweep))
"""The parameters of `sweep` itself, which therefore cannot be passed on to the trials."""
_COMMAND = "the command line"
_ARGUMENT = regex(rf"""\b({"|".join(sorted(_OWN))})=(?:"(\w+)"|(\d*)(?![\w\[]))""")
_ONLY_IN_PYTHON = regex(r" write search=\w+\(startup=[^,]*,")
"""A way out for which the command line has no option."""
_OBJECTIVE = regex(r'\b(max|min)imize\((?:"([^"]*)")?\)')
_OF_A_TRIAL = frozenset(
    (
        *("name", "parallelism", "timeout", "locks"),
        *ScheduleOptions.__annotations__,
    )
)
"""The options of a pipeline that apply to each trial, or schedule runs; all others are those of the run.

Those that the steps of inner pipelines inherit apply to the run too: they are inherited only from there.
"""


class Search(NamedTuple):
    """What is searched, as given on the command line.

    `spaces`: NAME=SPACE for each parameter. `metric`: NAME:max or NAME:min, or max or min of the one result.
    `search_image`: the image of a search that learns. The others are arguments of `sweep`.
    """

    spaces: Sequence[str]
    metric: str
    trials: int | None = None
    parallel: int | None = None
    search: Kind | None = None
    search_image: str | None = None
    seed: int | None = None
    min_success: int | None = None


class Tried(NamedTuple):
    """What is tried of a parameter: the numbers of a space called `word`, or without one values of its type."""

    name: str
    text: str
    type: t.Type
    word: str | None
    values: tuple[object, ...]
    condition: str | None


class WrongSearch(Exception):
    """A search that cannot be understood; the text says why, and what to write."""


def swept(loaded: Loaded, name: str | None, search: Search) -> Loaded:
    """The file of a sweep over the pipeline or step of that name, or over the only one of a file.

    Parameters that are not searched become those of the sweep. Raises WrongSearch.
    """
    target, definition = _target(loaded, name)
    known, spaces = definition.name, _tried(definition, search)
    left = _left(definition, spaces)
    scope = _Scope(f"sweep of {known}", {one.name for one in left})
    words, body = scope.named("flowdsl", flowdsl), scope.named(known, target)
    counts = {
        word: repr(value) for word, value in search._asdict().items() if word in _OWN and value is not None
    }
    if learning := _learning(search):
        counts["search"] = f"{words}.{learning}"
    text = "\n".join(
        (
            "from __future__ import annotations",
            "",
            "",
            f"@{words}.pipeline",
            f"def {known}_sweep({_parameters(left)}):",
            f"    sweep = {words}.sweep(",
            f"        {body},",
            "        over={",
            *(f'            "{one.name}": {_space(one, scope, words)},' for one in spaces),
            "        },",
            f"        objective={words}.{_objective(search.metric)},",
            *(f"        {word}={value}," for word, value in counts.items()),
            *(f"        {one.name}={one.name}," for one in left),
            "    )",
            "    return sweep.best",
            "",
        )
    )
    return _around(loaded, definition, scope, text, left)


def trial(
    loaded: Loaded, name: str | None, search: Search, labels: Mapping[str, str]
) -> tuple[Loaded, list[Tried]]:
    """The file of one trial of such a sweep, and what is tried, which are its parameters without a default.

    At its end a pod with the labels prints the metric, as `NAME = VALUE`. Raises WrongSearch.
    """
    target, definition = _target(loaded, name)
    known, spaces = definition.name, _tried(definition, search)
    left = _left(definition, spaces)
    by_name = definition.signature.by_name
    own = [by_name[each.name]._replace(default=MISSING) for each in spaces]
    scope = _Scope(f"trial of {known}", {each.name for each in (*own, *left)})
    words, body = scope.named("flowdsl", flowdsl), scope.named(known, target)
    run, report = scope.named("trial", None), scope.named("report", None)
    wanted, _ = goal_of(search.metric)
    text = "\n".join(
        (
            "from __future__ import annotations",
            "",
            "",
            f"@{words}.container(image={PYTHON!r}, labels={dict(labels)!r})",
            f"def {report}(value: float):",
            f'    return {words}.command("echo", {named(wanted)!r}, "=", value)',
            "",
            "",
            f"@{words}.pipeline",
            f"def {known}_sweep({_parameters([*own, *left])}):",
            f"    {run} = {body}({', '.join(f'{each.name}={each.name}' for each in (*own, *left))})",
            f"    {report}({run}{f'.{wanted}' if wanted else ''})",
            f"    return {run}",
            "",
        )
    )
    return _around(loaded, definition, scope, text, [*own, *left]), spaces


def _around(
    loaded: Loaded,
    definition: StepDef | PipelineDef,
    scope: _Scope,
    text: str,
    parameters: Sequence[Parameter],
) -> Loaded:
    """The file of a pipeline around the target, from its text; it has the options that do not apply to trials."""
    source = loaded.sources.add(scope.filename, text, ast.parse(text, scope.filename))
    made = scope.executed(text, f"{definition.name}_sweep")
    by_name = {one.name: one for one in parameters}
    made._signature = Signature(  # pyright: ignore[reportPrivateUsage] -- annotations are those of another file
        tuple(parameters), by_name, definition.signature.returns, True, (), ()
    )
    if isinstance(definition, PipelineDef):
        made.site = definition.site  # where the options are written
        made.options.update({key: one for key, one in definition.options.items() if key not in _OF_A_TRIAL})
        if isinstance(given := definition.options.get("name"), str):
            made.options["name"] = f"{given}-sweep"
    return Loaded(loaded.path, scope.module, loaded.sources, source)


def told(found: Sequence[Diagnostic], loaded: Loaded, asked: str, search: Search) -> list[Diagnostic]:
    """The findings about a sweep, without duplicates; if the pipeline itself is wrong, only those about it.

    The sweep repeats the parameters and options of the pipeline, except the time limit. What is found in its text
    is reported about the command line, which requests the sweep of `asked`.
    """
    found = [_of_a_trial(one, loaded) for one in found if not isinstance(one.finding, OfARun)]
    once: dict[object, tuple[Diagnostic, bool]] = {}
    for one in found:
        span = None if one.place is None else loaded.sources.resolve(one.place)
        own = span is not None and span.file == loaded.source.filename
        once.setdefault((span, one.finding.code, one.finding.message), (one, own))
    wrong = any(one.finding.severity == "error" and not own for one, own in once.values())
    command = _Command(loaded, asked, search)
    return [command.said(one) if own else one for one, own in once.values() if not (wrong and own)]


def _of_a_trial(one: Diagnostic, loaded: Loaded) -> Diagnostic:
    """A finding about the pipeline that is called for each trial, whose caller nobody writes."""
    if not isinstance(one.finding, EndOfAPart) or not hasattr(loaded.module, f"{one.finding.pipeline}_sweep"):
        return one
    way = "let `{pipeline}` call a pipeline with all but this block, and sweep that one"
    return one._replace(finding=one.finding.with_help(way))


class _Command:
    """The command line of a sweep, and which of its words each part of the text comes from."""

    def __init__(self, loaded: Loaded, asked: str, search: Search) -> None:
        self._loaded = loaded
        self._text = shlex.join(("flowdsl", "sweep", asked))
        self._words: dict[str, tuple[int, int]] = {}
        for one in search.spaces:
            self._add(one.partition("=")[0].strip(), one)
        self._add("objective", "--metric", search.metric)
        for word, value in search._asdict().items():
            if (word in _OWN or word == "search_image") and value is not None:
                self._add(word, f"--{word.replace('_', '-')}", str(value))
        loaded.sources.add(_COMMAND, self._text)

    def _add(self, key: str, *words: str) -> None:
        start = len(self._text) + 1
        self._text += " " + shlex.join(" ".join(word.split()) for word in words)
        self._words[key] = start, len(self._text)

    def said(self, one: Diagnostic) -> Diagnostic:
        """A finding about the text, as one about the command line."""
        advice = _ONLY_IN_PYTHON.sub("", one.finding.advice)
        help_ = _ARGUMENT.sub(
            lambda found: f"--{found[1].replace('_', '-')} {found[2] or found[3]}".rstrip(), advice
        )
        help_ = _OBJECTIVE.sub(
            lambda found: f"--metric {':'.join(filter(None, (found[2], found[1])))}", help_
        )
        finding = one.finding.with_help(help_.replace("{", "{{").replace("}", "}}"))
        related = [Related(self._place(each.place), each.message) for each in one.related]
        place = None if one.place is None else self._place(one.place)
        return Diagnostic(finding, place, tuple(each for each in related if each.place != place))

    def _place(self, place: Place) -> Place:
        span = self._loaded.sources.resolve(place)
        if span is None or span.file != self._loaded.source.filename:
            return place
        line = self._loaded.source.lines[span.line - 1].strip()
        key = line.split('"')[1] if line.startswith('"') else line.partition("=")[0]
        start, end = self._words.get(key, (0, len(self._text)))
        return Span(_COMMAND, 1, start + 1, 1, end + 1)


class _Scope:
    """The names that the text of a sweep uses, and their values."""

    def __init__(self, filename: str, taken: set[str]) -> None:
        self.filename = filename
        self.module = ModuleType(f"<{filename}>")
        self._taken = taken
        self._values: dict[str, object] = {}

    def named(self, wanted: str, value: object) -> str:
        """A name for a value: the preferred one, unless a parameter or another value has it."""
        while wanted in self._taken or wanted in self._values or keyword.iskeyword(wanted):
            wanted += "_"
        self._values[wanted] = value
        return wanted

    def executed(self, text: str, name: str) -> PipelineDef:
        """Execute the text; returns the definition of the pipeline of that name."""
        code = compile(text, self.filename, "exec", dont_inherit=True)
        space = {**self._values, "__name__": self.module.__name__}
        exec(code, space)
        setattr(self.module, name, space[name])  # and nothing else: everything in the module is compiled
        made: Any = space[name]
        found: PipelineDef = made._definition
        return found


def _target(
    loaded: Loaded, name: str | None
) -> tuple[Step[..., Any] | Pipeline[..., Any], StepDef | PipelineDef]:
    """The target of the search, and its definition."""
    found = _named(loaded, name)
    definition: StepDef | PipelineDef = found._definition  # pyright: ignore[reportPrivateUsage] -- as in compile.py
    if not definition.name.isidentifier():
        raise WrongSearch(
            f"{loaded.source.shown}: a function without a name cannot be tried: write it with `def`"
        )
    return found, definition


def _named(loaded: Loaded, name: str | None) -> Step[..., Any] | Pipeline[..., Any]:
    """The pipeline or step of a name; without one the only pipeline, or the only step."""
    shown = loaded.source.shown
    found: dict[str, Step[..., Any] | Pipeline[..., Any]] = {
        key: one for key, one in vars(loaded.module).items() if type(one) in (Step, Pipeline)
    }
    if name is not None:
        if name not in found:
            raise WrongSearch(
                f"{shown} has no pipeline or step `{name}`: {suggest(name, found) or 'write one'}"
            )
        return found[name]
    for kind in (Pipeline, Step):
        some = [key for key, one in found.items() if type(one) is kind]
        if len(some) == 1:
            return found[some[0]]
        if some:
            ways = ", ".join(f"{shown}:{key}" for key in some[:4])
            raise WrongSearch(
                f"{shown} has {len(some)} {kind.__name__.lower()}s: say which one a trial is, {ways}"
            )
    way = "put @step above the function that trains, and let it return the metric"
    raise WrongSearch(f"{shown} has no pipeline and no step that could be tried: {way}")


def _tried(definition: StepDef | PipelineDef, search: Search) -> list[Tried]:
    """What is tried of the parameters of a pipeline or step. Raises WrongSearch."""
    found: dict[str, Tried] = {}
    wrong: list[WrongSearch] = []
    for text in search.spaces:
        name, equals, written = text.partition("=")
        try:
            if not equals or not name.strip().isidentifier():
                raise WrongSearch(f"{text}: {_FORM}")
            if name.strip() in found:
                again = f"`{name.strip()}` is given twice; a comma parts values that are tried"
                raise WrongSearch(f"{text}: {again}")
            found[name.strip()] = _read(name.strip(), written, definition)
        except WrongSearch as error:
            wrong.append(error)
    if wrong:
        raise WrongSearch(together("parameters", wrong))
    if not found:
        raise WrongSearch(f"nothing is tried: {_FORM}")
    return [*found.values()]


def _left(definition: StepDef | PipelineDef, spaces: Sequence[Tried]) -> list[Parameter]:
    """The parameters that are not searched."""
    names = {one.name for one in spaces}
    own = definition.signature.parameters
    left = [one for one in own if one.name not in names and _is_left(one, definition.name)]
    for one in left:
        if t.holds_file(one.type) and one.default is MISSING:
            raise WrongSearch(
                f"`{definition.name}` takes `{one.name}: {t.spell(one.type)}`, and a run cannot be given a file:"
                f" give it a default on a volume or from elsewhere, or sweep a pipeline that passes it one"
            )
    return left


def _is_left(parameter: Parameter, known: str) -> bool:
    """Whether a parameter that is not searched becomes one of the sweep."""
    if parameter.name not in _OWN:
        return True
    if parameter.default is MISSING:
        raise WrongSearch(
            f"`{parameter.name}` of `{known}` has no default, and is a word of the sweep: say its value, "
            f"{parameter.name}=VALUE"
        )
    return False


def _parameters(left: Sequence[Parameter]) -> str:
    """Parameters as they are written, as far as they fit in one line."""
    found = ["*"] if left else []
    for one in left:
        kind = t.spell(one.type)
        try:
            ast.parse(kind, mode="eval")
        except SyntaxError:
            kind = "object"
        plain = one.default is None or type(one.default) in (str, int, bool)
        value = "" if one.default is MISSING else f" = {one.default!r}" if plain else " = ..."
        found.append(f"{one.name}: {kind}{value}")
    return ", ".join(found)


def _read(name: str, text: str, definition: StepDef | PipelineDef) -> Tried:
    try:
        written = space(text, SPACES)
    except GrammarError as error:
        raise WrongSearch(f"{name}={text}: {error}") from None
    parameter = definition.signature.by_name.get(name)
    kind = t.JSON if parameter is None else parameter.type
    drawn = written.word not in (None, "choice")
    values: list[object] = []
    for one in written.values:
        try:
            if t.holds_file(kind) and not drawn:
                raise WrongValue("a file is tried by `sweep` in a pipeline only")
            values.append(_number(one) if drawn else meant(one, kind))
        except WrongValue as wrong:
            said = f"{name}={text}: `{name}` of `{definition.name}` is {t.spell(kind)}, and {one.text} is not: {wrong}"
            texts = [each.text for each in written.values]
            if isinstance(kind, t.Sequence) and not (drawn or any("[" in each for each in texts)):
                said += (
                    f"; one list for each trial is written {name}={','.join(f'[{each}]' for each in texts)}"
                )
            raise WrongSearch(said) from None
    return Tried(name, text, kind, written.word if drawn else None, tuple(values), written.condition)


def _space(one: Tried, scope: _Scope, words: str) -> str:
    """The search space of a parameter as Python."""
    values = [
        repr(value)
        if value is None or type(value) in (str, int, bool) or (isinstance(value, float) and isfinite(value))
        else scope.named(f"{one.name}_{at}", value)
        for at, value in enumerate(one.values)
    ]
    found = f"{words}.{one.word or 'choice'}({', '.join(values)})"
    return found if one.condition is None else f"{found}.when({one.condition!r})"


def _number(written: Value) -> object:
    """A bound of a space as a number, an int if written so; what is not a number is left for the language to check."""
    for kind in (t.INT, t.FLOAT):
        try:
            return meant(written, kind)
        except WrongValue:
            continue
    return meant(written, t.JSON)


def named(metric: str) -> str:
    """A metric's name in Katib, whose collector accepts words and hyphens: a path into a record has dots."""
    return metric.replace(".", "-") or "return"


def goal_of(text: str) -> tuple[str, str]:
    """The name of the metric, empty for the single result of a trial, and its goal."""
    found = metric(text)
    if found is None:
        raise WrongSearch(f"--metric {text}: {_METRIC}")
    return found


def _learning(search: Search) -> str | None:
    """The learning search of a sweep, if its name alone does not tell that it learns."""
    word = {Tpe.kind: "Tpe", Gp.kind: "Gp"}.get(search.search or "")
    if search.search_image is not None:
        if word is None:
            raise WrongSearch(
                "--search-image is the image of a search that learns: add --search tpe or --search gp"
            )
        return f"{word}(image={search.search_image!r})"
    if word == "Gp":
        raise WrongSearch(
            "--search gp needs an image that has Python, Optuna, SciPy and PyTorch: add --search-image IMAGE"
        )
    return None


def _objective(text: str) -> str:
    name, goal = goal_of(text)
    word = "maximize" if goal == "max" else "minimize"
    return f"{word}({json.dumps(name) if name else ''})"
