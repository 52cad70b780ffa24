"""Tasks that run at the end of the run or of one task: always, or only if it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from flowdsl.loop import said
from flowdsl.places.place import Argument, Site, here
from flowdsl.run import OUTCOME
from flowdsl.tracing.call import calls_of
from flowdsl.tracing.trace import ENDED, FAILED, Call, Graph, Region, Trace, needed
from flowdsl.values.expr import Const, Op, Poison, RunField, Status
from flowdsl.values.types import BOOL
from flowdsl.values.value import FewFields, expr_of, is_value, value

if TYPE_CHECKING:
    from types import TracebackType


class Ended(FewFields):
    """What the tasks in a block of `on_exit` or `on_failure` know of what has ended."""

    __slots__ = ("_expr",)
    _said = "an Ended"

    def __init__(self, expr: RunField | Status | Poison) -> None:
        self._expr = expr

    @property
    def status(self) -> Literal["Succeeded", "Failed", "Error"]:
        """How it ended. "Error" if its pod or something around it failed, not the program."""
        return cast('Literal["Succeeded"]', value(self._expr))


class _Ending:
    """The context manager of `on_exit` and `on_failure`."""

    __slots__ = ("call", "failed", "graph", "site", "trace", "wrong")

    def __init__(self, trace: Trace, word: str, of: object, site: Site) -> None:
        self.trace = trace
        self.site = site
        self.failed = word == "on_failure"
        self.graph: Graph = trace.graph
        self.call: Call | None = None
        self.wrong = False
        if of is None:
            self.wrong = self._misplaced(word)
        else:
            self._of(of, word)
        self.graph.pending.append((word, site))

    def _misplaced(self, word: str) -> bool:
        """Whether the end of the run is used in a wrong place; it is recorded."""
        graph = self.graph
        if graph.around is not None:
            if self.failed:  # a condition like any other
                return False
            self.trace.report("EndInsideEnd", self.site)
        elif len(self.trace.open) > 1:
            self.trace.report("EndOfAPart", self.site, (), word=word, pipeline=graph.owner.name)
        elif graph.region is not None:
            self.trace.report("EndUnderCondition", self.site, (), word=word)
        else:
            return False
        return True

    def _of(self, of: object, word: str) -> None:
        place = Argument(self.site, "of", 0)
        self.wrong = True
        if is_value(of) and isinstance(expr_of(of), Poison):
            return
        calls = calls_of(expr_of(of)) if is_value(of) else getattr(of, "_flowdsl_calls", [])
        found = {id(call): call for call in calls}
        if len(found) > 1:
            self.trace.report("SeveralEnds", place, (), word=word)
        elif not found or any(call.graph is not self.graph for call in calls):
            have = "a result of another pipeline" if found else said(of)
            self.trace.report("NoTaskToEnd", place, (), word=word, have=have)
        else:
            self.call = calls[0]
            self.wrong = False

    def __enter__(self) -> Ended:
        entry = next((one for one in self.graph.pending if one[1] is self.site), None)
        if entry is not None:
            self.graph.pending.remove(entry)
        word = "on_failure" if self.failed else "on_exit"
        graph = self.graph
        graph.enter(word, self.site, has_region=self.call is not None)
        if self.call is not None:
            graph.region = Region(Const(True, BOOL), graph.region, self.site)
            graph.region.ended = self.call
            graph.region.results = FAILED if self.failed else ENDED
            graph.finished = None
            return Ended(Status(self.call, OUTCOME))
        status = RunField("status", OUTCOME)
        failed = Op("!=", (status, Const("Succeeded", OUTCOME)), BOOL)
        if graph.around is not None and not self.wrong:
            graph.region = Region(failed, graph.region, self.site)
            graph.finished = None
            return Ended(status)
        if self.wrong:
            # Calls in such a block are checked, but discarded.
            graph = Graph(graph.owner)
            graph.around = self.graph
            graph.inputs = self.graph.inputs
        else:
            graph = self.trace.end(graph, self.site)
        if self.failed:
            graph.region = Region(failed, None, self.site)
        self.trace.open.append(graph)
        return Ended(status)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.trace.graph is self.graph:
            assert self.graph.region is not None
            self.graph.region = self.graph.region.parent
            self.graph.finished = None
        else:
            ended = self.trace.open.pop()
            ended.region = ended.finished = None


def on_exit(of: object = None, /) -> _Ending:
    """The tasks called in this `with` block run when the run has ended, or when the task `of` has.

    `of` is a result of the task, of a called pipeline, or of a loop. However it ended: the block knows it
    as `with on_exit(model) as train:`, `train.status`.
    """
    return _Ending(needed("on_exit"), "on_exit", of, here())


def on_failure(of: object = None, /) -> _Ending:
    """The tasks called in this `with` block run when the run has failed, or when the task `of` has."""
    return _Ending(needed("on_failure"), "on_failure", of, here())
