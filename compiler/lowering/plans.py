"""The results of the first pass: plans of calls and graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.findings.data import SameVolume
from flowdsl.compiler.forms import PLAIN, Carried, File, Form
from flowdsl.compiler.lowering.marks import marked
from flowdsl.compiler.lowering.subgraph import SILENT, Own
from flowdsl.compiler.options.store import nearest
from flowdsl.compiler.placing import AT
from flowdsl.compiler.volumes import alike
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.pipeline import PipelineDef
from flowdsl.places.place import Argument
from flowdsl.tracing.trace import Call
from flowdsl.values import types as t
from flowdsl.values.expr import Expr, Param, Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flowdsl.compiler.ir import Store
    from flowdsl.compiler.lowering.ask_script import Texts
    from flowdsl.compiler.ports import Taken
    from flowdsl.compiler.steps.leaves import Descriptions
    from flowdsl.tracing.trace import Graph
    from flowdsl.volume import Volume

STATUS = "flowdsl-status"
"""The additional output of a task that may fail: its status."""
CHECKPOINT = "flowdsl-checkpoint"
"""Counts as an output with a location: a folder of checkpoints has one, too."""

FOLDER = "folder"
"""For a loop over a list with files, the port with its folder; the rows are in the parameter itself."""

LARGE = 500
"""Number of rows of a loop above which a pod picks the best.

The expression that finds the best compares every row with every row; it was tested with 500.
"""
ROW = "row"
"""The output of the task that picks the best row of a sweep."""


class CallPlan:
    """One call, with the forms and values of its arguments."""

    __slots__ = (
        "after",
        "arguments",
        "around",
        "beside",
        "best",
        "call",
        "condition",
        "ended",
        "inner",
        "items",
        "listed",
        "name",
        "over",
        "placed",
        "points",
        "store",
        "sub",
        "taken",
    )

    def __init__(self, call: Call, name: str, best: str) -> None:
        self.call = call
        self.name = name
        self.best = best  # of a sweep: the task that picks the best row, and fails if there is none
        self.arguments: dict[str, Carried] = {}  # what the task is passed
        self.inner: dict[str, Carried] = {}  # of a loop: what each item is passed, seen inside the loop
        self.items: tuple[object, ...] | None = None
        self.over: Expr | None = None
        self.beside: list[Expr] = []  # lists that are iterated in parallel with it
        self.points: Texts | None = None  # of a sweep that learns: its points, as they are passed
        self.around = False  # whether there is a graph around its step
        self.store: Store | None = None  # where the files of a step are stored, if not in the repository
        self.placed: set[str] = set()  # outputs whose files have a fixed location: a key or a path
        self.listed: set[str] = set()  # outputs whose lists of files a loop iterates over
        self.taken: set[tuple[str, Taken]] = set()  # outputs that Argo extracts values from
        self.sub: GraphPlan | None = None
        self.condition: Expr | None = None
        self.after: dict[str, None] = {}
        self.ended: dict[str, tuple[str, ...]] = {}  # tasks it waits for, by how they may have ended

    @property
    def given(self) -> dict[str, Carried]:
        """What its step or pipeline is passed, even inside the graph of a loop or of an allowed failure."""
        return self.inner if self.call.may_fail or self.call.loop is not None else self.arguments

    def wait(self, tasks: Iterable[str]) -> None:
        """Start after these tasks."""
        for task in tasks:
            self.after[task] = None

    @property
    def large(self) -> bool:
        """Whether the call is a loop with very many rows."""
        loop = self.call.loop
        items = loop.rows if loop is not None and loop.learnt is not None else self.items
        return items is not None and len(items) > LARGE

    def form(self, name: str) -> Form:
        """The form of an output of the call."""
        return PLAIN if self.sub is None else self.sub.results[name].form


class GraphPlan:
    """One graph with its parameters in given forms."""

    def __init__(
        self,
        owner: PipelineDef,
        forms: dict[str, Form],
        looped: bool,
        body: bool,
        store: Store | None,
        own: Own = SILENT,
    ) -> None:
        self.owner = owner
        self.store = store  # the store of its steps that have no other
        self.forms = forms
        self.own = own
        self.looped = looped  # runs inside a loop, so its files need the index of the item
        self.body = body  # is what the loop runs, so it outputs the index
        self.root = False
        self.prefix = ""  # of the places of its tasks in the run
        self.calls: list[CallPlan] = []
        self.by_call: dict[int, CallPlan] = {}
        self.results: dict[str, Carried] = {}

    @property
    def needs_at(self) -> bool:
        """Whether files created inside need to know the place of the graph in the run."""
        return any(plan.placed or (plan.sub is not None and plan.sub.needs_at) for plan in self.calls)

    @property
    def needs_index(self) -> bool:
        """Whether the graph has an input for the index of its item."""
        return self.body or (
            self.looped
            and any(
                plan.placed or plan.call.loop is not None or (plan.sub is not None and plan.sub.needs_index)
                for plan in self.calls
            )
        )

    def place(self, plan: CallPlan) -> tuple[str | Expr, ...]:
        """The place of a call in the run: part of the key or path of its files."""
        return (self.prefix + plan.name,) if self.root else (Param(AT, t.TEXT), f".{plan.name}")


def is_distributed(call: Call) -> bool:
    """Whether a call runs in pods that Argo does not create."""
    return call.options.get("distributed", call.target.options.get("distributed")) is not None


class Shared:
    """What the plans of all graphs of a pipeline share.

    `names`: of the tasks of a graph; `cached`: the ids of cached calls: if there are any, files have digests.
    """

    def __init__(
        self, names: Callable[[Graph], dict[int, str]], descriptions: Descriptions, cached: frozenset[int]
    ) -> None:
        self.names = names
        self.descriptions = descriptions
        self.cached = cached
        self.diagnostics: list[Diagnostic] = []
        self.volumes: dict[str, Volume] = {}

    def outside(self, file: Stored) -> tuple[Form, list[Expr]]:
        """How a file from outside of the run is passed: with caching, keys distinguish it from others."""
        return marked(file) if self.cached else (File(False), [file])

    def digested(self, maker: CallPlan) -> bool:
        """Whether a step outputs the digests of its files: if any step is cached, and this one is a Python step."""
        target = maker.call.target
        python = not isinstance(target, PipelineDef) and target.kind == "python"
        return bool(self.cached) and python and not maker.large and maker.store is None

    def volume(self, volume: Volume) -> None:
        """Note that a volume is used."""
        known = self.volumes.setdefault(volume.name, volume)
        if known.origin is not volume.origin and not alike(known, volume):
            place, related = Argument(volume.site, "name", 0), (Related(known.site, "the other one"),)
            self.diagnostics.append(Diagnostic(SameVolume(volume.name), place, related))

    def store(self, around: Store | None, *levels: Mapping[str, Any]) -> Store | None:
        """The store of the first of these options that name one; else the one around."""
        known = None if around is None else (around, self.volumes[around.volume])
        found = nearest(known, *levels)  # errors in it were reported by the checks
        if found is None:
            return None
        self.volume(found[1])
        return found[0]
