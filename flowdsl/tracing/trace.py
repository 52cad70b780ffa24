"""The trace of a pipeline: its body runs once, and its calls are recorded.

The active trace is in a context variable; there is no registry. A bad call is recorded and returns a stand-in, so that
one run finds all mistakes.
"""

from __future__ import annotations

import re
from binascii import crc32
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from flowdsl.diagnostic import Diagnostic, Related, any_error
from flowdsl.grammar.named import NamedTuple
from flowdsl.mistakes import mistake
from flowdsl.places.place import (
    Argument,
    Definition,
    Place,
    Site,
    blamed,
    extent,
    here,
    hole,
    inside,
    through_library,
)
from flowdsl.values import types as t
from flowdsl.values.expr import (
    Checkpoint,
    Const,
    Either,
    Expr,
    Get,
    Held,
    InPod,
    OnVolume,
    Op,
    Param,
    Poison,
    Rows,
    RunField,
    Stored,
)
from flowdsl.values.textual import Textual

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import CodeType

    from flowdsl.pipeline import PipelineDef
    from flowdsl.points.learnt import Learnt
    from flowdsl.space import Objective
    from flowdsl.step import StepDef


_MOST_CALLS = 50_000  # even the shortest valid tasks exceed the size of a Workflow


class Endless(BaseException):
    """Ends a body with endless calls: the mistake is reported, and no `except` of the user catches it."""


class OutsidePipeline(RuntimeError):
    """A word of the language was used outside of a pipeline.

    `problem` says what is wrong, `way` what to do instead; `inside` what to do in the body of a pipeline.
    """

    def __init__(self, problem: str, way: str, inside: str = "do this inside a step") -> None:
        super().__init__(f"{problem}: {way}")
        self.problem = problem
        self.way = way
        self.inside = inside


#: The results of a task that has ended, and of one that has failed, in Argo's terms.
ENDED = ("Succeeded", "Failed", "Errored")
FAILED = ("Failed", "Errored")


class Region:
    """A part of a pipeline's body whose tasks run only under a condition, or when a task has ended.

    `ended` is that task, and `results` its possible outcomes.
    """

    __slots__ = ("condition", "ended", "parent", "results", "site")

    def __init__(self, condition: Expr, parent: Region | None, site: Site) -> None:
        self.condition = condition
        self.parent = parent
        self.site = site
        self.ended: Call | None = None
        self.results: tuple[str, ...] = ()


def regions(region: Region | None) -> Iterator[Region]:
    """A region and those around it, innermost first."""
    while region is not None:
        yield region
        region = region.parent


class Loop:
    """How a call is repeated: once for each row, or for each element of lists known only at run time.

    `product`: for each combination of their elements, the last list varying fastest.
    `learnt`: how all but the first rows are chosen in the run; until then they are placeholders.
    """

    __slots__ = (
        "_computed",
        "keep_going",
        "kind",
        "learnt",
        "lists",
        "minimum",
        "objective",
        "parallel",
        "product",
        "rows",
        "site",
    )

    def __init__(self, kind: str, site: Site) -> None:
        self.kind = kind  # "fan_out" or "sweep"
        self.site = site
        self.rows: list[dict[str, Expr]] | None = None
        self.learnt: Learnt | None = None
        self.lists: dict[str, Expr] = {}
        self.product = False
        self.parallel: int | None = None
        self.objective: Objective | None = None
        self.minimum = 1
        self.keep_going = kind == "sweep"  # items that fail are left out
        self._computed: list[tuple[str, Expr]] | None = None

    @property
    def computed(self) -> list[tuple[str, Expr]]:
        """The items that are not constants, with their parameters: computed once the loop is complete, and cached.

        A sweep has thousands of items, mostly constants, which most checks can skip.
        """
        if self._computed is None:
            columns = (self.lists, *(self.rows or ()))
            self._computed = [
                (name, expr) for one in columns for name, expr in one.items() if type(expr) is not Const
            ]
        return self._computed


class Call:
    """One call of a step or pipeline in a graph."""

    __slots__ = (
        "after",
        "arguments",
        "graph",
        "loop",
        "may_fail",
        "name",
        "options",
        "override",
        "positional",
        "region",
        "site",
        "target",
    )

    def __init__(self, target: StepDef | PipelineDef, site: Site, graph: Graph) -> None:
        self.target = target
        self.site = site
        self.graph = graph
        self.options: dict[str, Any] = {}  # those of `.options(...)`, called at `override`
        self.override: Site | None = None
        self.positional = 0  # the number of positional arguments
        self.name: str | None = None
        self.arguments: dict[str, Expr] = {}
        self.after: tuple[Call, ...] = ()
        self.region: Region | None = None
        self.loop: Loop | None = None
        self.may_fail = False  # not counting the graph around it

    @property
    def all_options(self) -> dict[str, Any]:
        """The options of the target, overridden by those of the call."""
        return {**self.target.options, **self.options}

    @property
    def values(self) -> list[Expr]:
        """The expressions that it gets: its arguments, and those that its loop computes for each item."""
        computed = () if self.loop is None else self.loop.computed
        return [*self.arguments.values(), *(expr for _, expr in computed)]

    def argument(self, name: str) -> Argument:
        """The place of the argument for a parameter; of one that a loop fills, that of its items."""
        if self.loop is not None and name not in self.arguments:
            return Argument(self.site, "over", part=f"item:{name}")
        for index, parameter in enumerate(self.target.signature.parameters[: self.positional]):
            if parameter.name == name:
                return Argument(self.site, None, index, arrived=self.positional)
        return Argument(self.site, name)


class Graph:
    """The calls in one pipeline's body, or those for the end of the run."""

    __slots__ = (
        "around",
        "blocks",
        "calls",
        "chosen",
        "finished",
        "inputs",
        "locals",
        "owner",
        "pending",
        "region",
        "result",
        "site",
        "uses",
    )

    def __init__(self, owner: PipelineDef) -> None:
        self.owner = owner
        self.around: Graph | None = None  # for the end of a run: the graph of its pipeline
        self.site: Site | None = None  # and where the end is first used
        self.clear()

    def clear(self) -> None:
        """Discard the results of a previous run of the body."""
        self.calls: list[Call] = []
        self.result: Expr | None = None
        self.inputs: dict[str, Expr] = {}  # its parameters, as this body sees them
        self.region: Region | None = None  # the current one
        self.finished: Region | None = None  # the `when` that ended last, for `otherwise`
        self.pending: list[tuple[str, Site]] = []  # conditions not yet used in a `with`
        self.blocks: dict[
            tuple[int, int], tuple[str, Site, bool]
        ] = {}  # and those that were used in one, by instruction
        self.chosen: dict[int, tuple[Expr, Region]] = {}  # results of `either` in branches
        self.uses: list[Any] | None = None  # the uses that the checks found, cached
        self.locals: list[tuple[CodeType, Mapping[str, Any]]] = []  # of functions that ask what none can see

    def enter(self, word: str, site: Site, has_region: bool = True) -> None:
        """Record the start of a block; calls for the end of a run have no region."""
        self.blocks[id(site.code), site.lasti] = word, site, has_region


class Token(NamedTuple):
    """A run-time value that was inserted into text."""

    expr: Expr
    site: Site
    shown: bool


class Trace:
    """The tracing of a pipeline: its graphs and the mistakes in them."""

    def __init__(self) -> None:
        self.graphs: dict[int, Graph] = {}
        self.open: list[Graph] = []
        self.problems: list[Diagnostic] = []
        self.tokens: list[Token] = []
        self.arrived: set[int] = set()
        self.named: list[Site] = []  # where fields of the run, which have no numbers, were inserted into text
        self.defaults: dict[tuple[int, str], Expr] = {}  # of parameters, lifted once
        self._told: set[tuple[Any, ...]] = set()
        self._misused: dict[tuple[int, int], dict[str, Site]] = {}  # the kinds of misuse, by instruction
        self._asked: dict[tuple[int, int], int] = {}  # number of truth tests, the last one last
        self._answers: dict[tuple[int, int], bool] = {}  # the last answers
        self._better: dict[tuple[int, int], bool] = {}  # the answers to give first, where known

    @property
    def graph(self) -> Graph:
        """The current graph."""
        return self.open[-1]

    @property
    def root(self) -> Graph:
        """The graph of the pipeline that is traced."""
        return next(iter(self.graphs.values()))

    @property
    def calls(self) -> Iterator[Call]:
        """The calls in all graphs."""
        return (call for graph in self.graphs.values() for call in graph.calls)

    def add(self, call: Call) -> None:
        """Record a call in its graph; raises `Endless` if there are more than a Workflow has room for."""
        calls = call.graph.calls
        calls.append(call)
        if len(calls) > _MOST_CALLS:
            name = call.graph.owner.name
            self.report("TooMany", call.site, (), what="calls", name=name, most=_MOST_CALLS)
            raise Endless

    def end(self, graph: Graph, site: Site) -> Graph:
        """The graph for the end of a pipeline's run; its inputs are the pipeline's."""
        known = self.ending(graph)
        if known is None:
            known = self.graphs[-id(graph.owner)] = Graph(graph.owner)
            known.around, known.site, known.inputs = graph, site, graph.inputs
        return known

    def ending(self, graph: Graph) -> Graph | None:
        """The graph for the end of a pipeline's run, if the pipeline uses that."""
        return self.graphs.get(-id(graph.owner))

    def report(self, kind: str, place: Place, related: tuple[Related, ...] = (), /, **data: Any) -> None:
        """Record a mistake of the named kind in `flowdsl.mistakes`, once for each place and text."""
        finding = mistake(kind, **data)
        key = (_identity(place), finding.code, finding.message)
        if key not in self._told:
            self._told.add(key)
            self.problems.append(Diagnostic(finding, place, related))

    def relate(self, site: Site, related: tuple[Related, ...]) -> None:
        """Add related places to the last mistake at the expression of a site."""
        for number in reversed(range(len(self.problems))):
            problem = self.problems[number]
            if isinstance(problem.place, Site) and inside(problem.place, site):
                self.problems[number] = problem._replace(related=(*problem.related, *related))
                return

    def complain(self, kind: str, **data: Any) -> None:
        """Record what the user's code does with a run-time value, once for each instruction.

        `list(x)` iterates and counts; all uses by code that the user calls are one mistake of the caller.
        """
        site, foreign = blamed()
        kinds = self._misused.setdefault((id(site.code), site.lasti), {})
        if foreign:
            kind, data = "StandInRefused", {"problem": "known only when the pipeline runs"}
        if kind not in kinds:
            kinds[kind] = site
            self.report(kind, site, (), **data)

    def told(self, site: Site, *, itself: bool = False) -> bool:
        """Whether the expression at a site misused a run-time value, `itself` or in a part of it."""
        sites = (next(iter(kinds.values())) for kinds in self._misused.values())
        return any(inside(one, site) and (not itself or inside(site, one)) for one in sites)

    @property
    def failed(self) -> bool:
        """Whether an error was found, not only warnings."""
        return any_error(self.problems)

    def truth(self, site: Site) -> bool:
        """The answer when Python tests the truth of a run-time value.

        First True, so that the body of an `if` runs. Then False and True in ever longer turns, which
        ends every loop. If that led to an exception, the other answer for the first hundred times.
        """
        key = (id(site.code), site.lasti)
        count = self._asked.pop(key, 0) + 1
        self._asked[key] = count
        turn = count.bit_length()
        better = self._better.get(key)
        self._answers[key] = turn % 2 == 1 if better is None else (turn % 8 != 0) == better
        return self._answers[key]

    def avoid(self) -> bool:
        """Change the last answer that has not been changed yet; False if there is none."""
        for key in reversed(self._asked):
            if key not in self._better:
                self._better[key] = not self._answers[key]
                self._asked.clear()
                return True
        return False


def _identity(place: Place) -> tuple[Any, ...]:
    if isinstance(place, Argument):
        return (*_identity(place.site), *place[1:])
    if isinstance(place, Site):
        # By the text: a `while` tests its condition in two instructions.
        return (id(place.code), extent(place) or place.lasti, hole(place))
    return tuple(place)


_current: ContextVar[Trace | None] = ContextVar("flowdsl_trace", default=None)
_running: list[Trace] = []


def current() -> Trace | None:
    """The trace of this context, or None outside a pipeline.

    A thread started by a pipeline's body does not inherit the trace; that is a mistake of the body.
    """
    trace = _current.get()
    if trace is None and _running:
        trace = _running[-1]
        owner = trace.graph.owner if trace.open and through_library() else None
        if owner is None:
            trace.report("PipelineThread", here())
        else:  # the body's current place differs between runs
            trace.report("PipelineThread", Definition(owner.code), (), pipeline=owner.name)
    return trace


def needed(word: str) -> Trace:
    """The trace, for a word that is valid only in the body of a pipeline; raises `OutsidePipeline`."""
    trace = current()
    if trace is None or not trace.open:
        raise OutsidePipeline(
            f"`{word}` was used outside a pipeline",
            "call it in the body of a function under @pipeline, and compile that file with `flowdsl compile`",
        )
    return trace


def start(trace: Trace) -> Any:
    """Make a trace the current one; pass the result to `stop`."""
    _running.append(trace)
    return _current.set(trace)


def stop(trace: Trace, mark: Any) -> None:
    """End the trace that `start` has begun."""
    _current.reset(mark)
    _running.remove(trace)


def complain(kind: str, **data: Any) -> None:
    """Record a mistake at the user's line; outside of a pipeline, raise it."""
    trace = current()
    if trace is None:
        finding = mistake(kind, **data)
        raise OutsidePipeline(finding.message, finding.advice)
    trace.complain(kind, **data)


def hidden(expr: Expr) -> dict[str, str] | None:
    """The data about a parameter of the pipeline with the name of a step or pipeline of its file; else None."""
    trace = current()
    if trace is None or not trace.open or not isinstance(expr, Param):
        return None
    owner = trace.graph.owner
    what = function_word(owner.plain.__globals__.get(expr.name))
    return {"name": expr.name, "pipeline": owner.name, "what": what} if what else None


class Declared:
    """A step or a pipeline, as the functions that use it see it; `_word` names it in messages."""

    _word = ""


def function_word(thing: object) -> str:
    """The word for a step or a pipeline; nothing for anything else."""
    return type(thing)._word if isinstance(thing, Declared) else ""  # pyright: ignore[reportPrivateUsage] -- no word of users


# Tokens are plain ASCII of mixed case and contain `{{`, so any damaged remains (upper(), a slice)
# are refused as literals that Argo would read as tags. The checksum at the end detects a token that became
# that of another value: `f"{size} 2".replace("2", "0")`.
TOKEN = re.compile(r"\{\{fD(!?)(?:(\d+)|:([A-Za-z_.]+))C([0-9a-f]{8})\}\}")
_FOLDER = "checkpoint_dir"
_HELD = "held."
DAMAGED = re.compile(r"\{\{fd|fd!?(?:\d+|:[a-z_.]+)c[0-9a-f]{8}\}\}", re.IGNORECASE)


def token(expr: Expr, *, shown: bool = False) -> str:
    """The text that represents a value inside other text; `shown` if repr() made it."""
    mark = "!" if shown else ""
    trace = current()
    if isinstance(expr, RunField) and not isinstance(expr.type, t.Sequence):
        if trace is not None:
            trace.named.append(here())
        return _spelled(f"{mark}:{expr.name}")
    if trace is None and isinstance(expr, Held):
        return _spelled(f":{_HELD}{expr.word.replace(' ', '_')}")
    if trace is None:
        return _spelled(f"{mark}:{_FOLDER}") if isinstance(expr, Checkpoint) else "<run-time value>"
    trace.tokens.append(Token(expr, here(), shown))
    return _spelled(f"{mark}{len(trace.tokens) - 1}")


def _spelled(key: str) -> str:
    return f"{{{{fD{key}C{crc32(key.encode()):08x}}}}}"


def held_in(text: str) -> str | None:
    """The word for a value that exists only in a pod, if a text outside of a pipeline contains one."""
    names = [name for _, _, name, _ in TOKEN.findall(text) if name.startswith(_HELD)]
    return names[0].removeprefix(_HELD).replace("_", " ") if names else None


def parts(text: str, trace: Trace | None) -> tuple[str | Expr, ...]:
    """A text as its literal parts and the values of its tokens."""
    found: list[str | Expr] = []
    end = 0
    for match in TOKEN.finditer(text):
        if match.start() > end:
            found.append(text[end : match.start()])
        found.append(_detoken(match, trace))
        end = match.end()
    if end < len(text):
        found.append(text[end:])
    return tuple(found)


def _detoken(match: re.Match[str], trace: Trace | None) -> Expr | str:
    shown, number, name, _ = match.groups()
    if match.group() != _spelled(f"{shown}{number or f':{name}'}"):
        return match.group()
    if name == _FOLDER or (name or "").startswith(_HELD):
        if trace is not None:
            trace.report("TextType", here(), (), type=held_in(match.group()) or "Path")
        return Poison()
    if name is not None:
        if shown and trace is not None:
            trace.report("TextRepr", here())
        return RunField(name)
    if trace is None or int(number) >= len(trace.tokens):
        return match.group()
    made = trace.tokens[int(number)]
    trace.arrived.add(int(number))
    if made.shown:
        trace.report("TextRepr", made.site)
        return Poison()
    if (why := not_text(made.expr)) is not None:
        trace.report("TextType", made.site, (), type=why)
        return Poison()
    return made.expr


def not_text(expr: Expr) -> str | None:
    """Why a value's text would differ between Python and Argo, or None if both agree."""
    if isinstance(expr, OnVolume):
        return "path on a volume"
    if isinstance(expr, Stored):
        return "file of the cluster"
    if isinstance(expr, Held):
        return expr.word
    kind = expr.type
    differs = isinstance(kind, t.Enumeration) or (isinstance(kind, Textual) and not kind.canonical)
    if isinstance(expr, (Poison, InPod)) or (t.is_text(kind) and not differs):
        return None
    number = kind if isinstance(kind, t.Number) else None
    if isinstance(kind, t.Choice) and all(type(one) is int for one in kind.values):
        number = t.INT
    if number is None:
        return t.spell(kind)
    return rewritten(expr) if number == t.FLOAT else None


def rewritten(expr: Expr) -> str | None:
    """A description of a float that Argo formats again; None if it arrives as the step or the user wrote it."""
    match expr:
        case Either(choices) | Op("?:", (_, *choices)):
            return next(filter(None, map(rewritten, choices)), None)
        case Op():
            return "float that Argo computes"
        case Get(Rows(), int()) | Get(Get(Rows(), int(), t.Record() | t.Fixed()), str()):
            return None  # as formatted by a step
        case Get():
            return "float that Argo takes out of a list or dict"
        case _:
            return None
