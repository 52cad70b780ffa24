"""Running a pipeline's body once, on stand-ins."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from flowdsl import types as t
from flowdsl.expr import Expr, Param, Poison
from flowdsl.lift import lift
from flowdsl.place import Definition, Place, Site
from flowdsl.trace import Graph, Trace, start, stop
from flowdsl.value import RunTimeValue, value

if TYPE_CHECKING:
    from types import CodeType, FrameType, TracebackType

    from flowdsl.pipeline import PipelineDef


class BodyError(Exception):
    """The user's pipeline raised an exception of its own; `original` is it."""

    def __init__(self, original: BaseException) -> None:
        super().__init__(str(original))
        self.original = original


def trace_pipeline(definition: PipelineDef) -> Trace:
    """The trace of a root pipeline, with everything it calls.

    Raises `BodyError` when the body raises an exception that is not about a run-time value; the
    mistakes found before are in its `trace`.
    """
    trace = Trace()
    mark = start(trace)
    try:
        trace_graph(trace, definition, definition.site)
    except BodyError as error:
        error.trace = trace  # type: ignore[attr-defined]
        raise
    finally:
        stop(trace, mark)
    _lost_text(trace)
    return trace


def trace_graph(trace: Trace, definition: PipelineDef, site: Site) -> Graph:
    """The graph of one pipeline, traced when it is first called."""
    known = trace.graphs.get(id(definition))
    if known is not None:
        if any(graph is known for graph in trace.open):
            trace.report("Recursion", site, name=definition.name)
        return known
    graph = Graph(definition)
    trace.graphs[id(definition)] = graph
    trace.open.append(graph)
    try:
        _run(trace, graph)
    finally:
        trace.open.pop()
    return graph


def _run(trace: Trace, graph: Graph) -> None:
    definition = graph.owner
    signature = definition.signature
    inputs = {p.name: value(_parameter(p.name, p.type)) for p in signature.parameters}
    positional = [inputs.pop(p.name) for p in signature.parameters if not p.keyword]
    code = definition.function.__code__
    watched = _asks_for_none(code)
    before = sys.getprofile()
    if watched:
        sys.setprofile(_remember_locals(code, graph))
    try:
        returned = definition.function(*positional, **inputs)
    except Exception as error:
        if not _about_a_stand_in(trace, error):
            raise BodyError(error) from error
        return
    finally:
        if watched:
            sys.setprofile(before)
    graph.returned = returned
    graph.result = _result(trace, definition, returned)


def _parameter(name: str, kind: t.Type) -> Expr:
    return Poison() if isinstance(kind, t.Unsupported) else Param(name, kind)


def _result(trace: Trace, definition: PipelineDef, returned: object) -> Expr | None:
    signature = definition.signature
    if isinstance(signature.returns, t.Nothing):
        if returned is not None and not (signature.annotated or definition.signature.unreadable):
            trace.report(
                "MissingReturnType", Definition(definition.function.__code__), (), name=definition.name
            )
        return None
    if isinstance(signature.returns, t.Unsupported):
        return None
    place: Place = Definition(definition.function.__code__, "return")

    def complain(kind: str, **data: Any) -> None:
        if kind == "WrongType":
            trace.report("WrongReturn", place, (), name=definition.name, **data)
        else:
            trace.report(kind, place, (), **data)

    return lift(returned, signature.returns, complain)


def _about_a_stand_in(trace: Trace, error: Exception) -> bool:
    """Report an exception that C code raised on a stand-in, at the user's expression."""
    text = str(error)
    if not isinstance(error, (TypeError, ValueError, AttributeError)) or RunTimeValue.__name__ not in text:
        # json asks for the class, and a stand-in answers that of the value it stands for.
        if not (isinstance(error, TypeError) and "not JSON serializable" in text):
            return False
    place = _innermost(error.__traceback__)
    if place is None:
        return False
    trace.report("StandInRefused", place, (), problem=text.replace(RunTimeValue.__name__, "a run-time value"))
    return True


def _innermost(traceback: TracebackType | None) -> Place | None:
    found: Place | None = None
    while traceback is not None:
        name = traceback.tb_frame.f_globals.get("__name__", "")
        library = name.partition(".")[0] in sys.stdlib_module_names
        if name != "flowdsl" and not name.startswith("flowdsl.") and not library:
            found = Site(traceback.tb_frame.f_code, traceback.tb_lasti)
        traceback = traceback.tb_next
    return found


def _asks_for_none(code: CodeType) -> bool:
    """Whether the code compares something with None by identity, which no stand-in can see."""
    import opcode

    asked = {number for name, number in opcode.opmap.items() if name == "IS_OP" or name.endswith("_NONE")}
    return any(operation in asked for operation in code.co_code[::2])


def _remember_locals(code: CodeType, graph: Graph) -> Any:
    def hook(frame: FrameType, event: str, argument: object) -> None:
        if event == "return" and frame.f_code is code:
            graph.locals = dict(frame.f_locals)

    return hook


def _lost_text(trace: Trace) -> None:
    for number, made in enumerate(trace.tokens):
        if number not in trace.arrived and not isinstance(made.expr, Poison):
            trace.report("LostText", made.site)


