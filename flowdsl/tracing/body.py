"""Runs the body of a pipeline once, on stand-ins."""

from __future__ import annotations

import opcode
import re
import sys
from collections import ChainMap
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from flowdsl.places.place import Definition, Place, Site, inside, operation, words
from flowdsl.tracing.stopped import explained, innermost, unseen
from flowdsl.tracing.trace import TOKEN, Declared, Endless, Graph, OutsidePipeline, Trace, start, stop
from flowdsl.values import types as t
from flowdsl.values.expr import Expr, Held, OnVolume, Param, Poison, Stored
from flowdsl.values.lift import annotation, is_dict, items_of, lift, spelled
from flowdsl.values.signature import is_function
from flowdsl.values.value import RunTimeValue, expr_of, is_value, maker, value

if TYPE_CHECKING:
    from types import FrameType

    from flowdsl.pipeline import PipelineDef

# The flags of code in `co_flags`, with their values in the module inspect.
KINDS = {0x20: "a generator", 0x80: "a coroutine", 0x200: "an asynchronous generator"}
_UNSEEN = {
    number
    for name, number in opcode.opmap.items()
    if name in ("IS_OP", "MATCH_MAPPING", "MATCH_SEQUENCE") or name.endswith("_NONE")
}
_CALLEE = re.compile(r"[\w.<>]+\(\) (missing|takes|got)|'[\w.]+' object is not callable")
_NO_EXCEPTION = "exceptions must derive from"
_DEEPEST = 100  # `DEEPEST` of lint: each pipeline is a template. Python's stack ends soon after.
_REPLACE = "replace() should be called on dataclass instances"
_JSON = re.compile(r"Object of type \w+ is not")


class BodyError(Exception):
    """The body of the pipeline `name` raised an exception: `original`."""

    def __init__(self, original: Exception | SystemExit, name: str) -> None:
        super().__init__(str(original))
        self.original = original
        self.name = name


def trace_pipeline(definition: PipelineDef) -> Trace:
    """The trace of a root pipeline, including everything that it calls.

    Raises `BodyError` if a body raises an exception before any mistake was found in it.
    """
    trace = Trace()
    mark = start(trace)
    try:
        trace_graph(trace, definition, definition.site)
    finally:
        stop(trace, mark)
    _lost_text(trace)
    return trace


def trace_graph(trace: Trace, definition: PipelineDef, site: Site) -> Graph:
    """The graph of a pipeline, traced on the first call."""
    known = trace.graphs.get(id(definition))
    if known is not None:
        if any(graph is known for graph in trace.open):
            trace.report("Recursion", site, name=definition.name)
        return known
    graph = Graph(definition)
    trace.graphs[id(definition)] = graph
    if len(trace.open) == _DEEPEST:
        trace.report("TooNested", site, (), name=definition.name, most=_DEEPEST)
        return graph
    if not is_function(definition.plain):
        return graph
    kind = KINDS.get(definition.code.co_flags & sum(KINDS))
    if kind is not None:
        trace.report("NotABodyOfCalls", Definition(definition.code), (), name=definition.name, kind=kind)
        return graph
    trace.open.append(graph)
    try:
        while not _run(trace, graph):
            graph.clear()
            trace.graphs.pop(-id(definition), None)
    finally:
        trace.open.pop()
    ending = trace.ending(graph)
    for word, condition in (*graph.pending, *(ending.pending if ending else ())):
        trace.report("ConditionAlone", condition, (), word=word)
    return graph


def _run(trace: Trace, graph: Graph) -> bool:
    """Run a body; False if it has to run again, with another answer to a question that cannot be answered."""
    definition = graph.owner
    signature = definition.signature
    graph.inputs = {p.name: _parameter(p.name, p.type) for p in signature.parameters}
    inputs: dict[str, Any] = {name: value(expr) for name, expr in graph.inputs.items()}
    positional = [inputs.pop(p.name) for p in signature.parameters if not p.keyword]
    asking = _asking(definition.plain)
    before = sys.getprofile()
    if asking:
        sys.setprofile(_remember_locals(asking, graph))
    try:
        returned = definition.function(*positional, **inputs)
    except BodyError:
        raise
    except Endless:
        return True
    except (Exception, SystemExit) as error:
        if isinstance(error, Exception) and _refused(trace, error):
            return True
        if trace.avoid():
            return False
        if (stop := explained(error)) is not None:
            trace.report(stop.kind, stop.place, stop.related, **stop.data)
            return True
        if not trace.failed and not signature.variadic:  # this is reported, and there are no inputs here
            if _is_ours(error):
                raise
            raise BodyError(error, definition.name) from error
        from traceback import format_exception_only

        # It may well be a consequence of mistakes that were found before.
        _, place = innermost(error.__traceback__)
        said = "".join(format_exception_only(error)).strip()
        trace.report(
            "BodyStopped", place or Definition(definition.code), (), name=definition.name, error=said
        )
        return True
    finally:
        if asking:
            sys.setprofile(before)
    graph.result = _result(trace, definition, returned)
    return True


def _is_ours(error: BaseException) -> bool:
    """Whether an exception is a bug in flowdsl: raised there, and not to report something to the user.

    A recursion of the user may be stopped anywhere.
    """
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    module = "" if traceback is None else traceback.tb_frame.f_globals.get("__name__", "")
    return module.partition(".")[0] == "flowdsl" and not isinstance(error, (OutsidePipeline, RecursionError))


def _parameter(name: str, kind: t.Type) -> Expr:
    return Poison() if isinstance(kind, t.Unsupported) else Param(name, kind)


def _result(trace: Trace, definition: PipelineDef, returned: object) -> Expr | None:
    signature = definition.signature
    place: Place = Definition(definition.code, "return")
    if isinstance(signature.returns, t.Nothing):
        nothing = returned is None or (is_value(returned) and _is_nothing(expr_of(returned)))
        if not nothing and signature.annotated:
            have = spelled(returned)
            trace.report("WrongReturn", place, (), name=definition.name, want="None", have=have)
        elif not nothing and not signature.unreadable:
            have = annotation(returned)
            trace.report(
                "MissingReturnType", Definition(definition.code), (), name=definition.name, have=have
            )
        return None
    if isinstance(signature.returns, t.Unsupported):
        return None

    def complain(kind: str, **data: Any) -> None:
        if kind == "WrongType":
            data = {"name": definition.name, "maker": maker(returned), **data}
            inside = data.pop("inside", ())
            where = Definition(definition.code, "return", f"item:{inside[0]}") if inside else place
            trace.report("WrongReturn", where, (), **data)
        else:
            trace.report(kind, place, (), **data)

    return lift(returned, signature.returns, complain, apart=True)


def _is_nothing(expr: Expr) -> bool:
    return isinstance(expr, Poison) or isinstance(expr.type, t.Nothing)


def _refused(trace: Trace, error: Exception) -> bool:
    """Whether an exception is due to a use of a run-time value; it is reported unless that use was."""
    frame, site = innermost(error.__traceback__)
    text = str(error)
    if frame is None or site is None or isinstance(error, RecursionError):
        return False
    if operation(site)[0] in ("RAISE_VARARGS", "RERAISE") and not text.startswith(_NO_EXCEPTION):
        return False
    if trace.told(site):
        trace.relate(site, unseen(error, site))
        return True
    if any(inside(one, site) for _, one in trace.graph.pending):  # reported at the end
        return True
    if isinstance(error, OutsidePipeline):
        where = "not in the body of a pipeline"
        trace.report(
            "OutOfPlace", site, unseen(error, site), problem=error.problem, where=where, way=error.inside
        )
        return True
    told = RunTimeValue.__name__ in text or TOKEN.search(text) or text.startswith(_NO_EXCEPTION)
    called = operation(site)[0].startswith("CALL") and not _CALLEE.match(text)
    if not told and not (called and _reads_a_value(frame, site)):
        return False
    # json asks for the class, and a stand-in returns that of its value.
    text = _JSON.sub("a run-time value is not", text).replace(
        f"'{RunTimeValue.__name__}'", RunTimeValue.__name__
    )
    text = TOKEN.sub("...", text).replace(RunTimeValue.__name__, "a run-time value")
    if "\n" in text:  # pydantic's, too much for a label
        text = "known only when the pipeline runs"
    instead = _written_out(frame, site) if text.startswith(_REPLACE) else ""
    trace.report("StandInRefused", site, unseen(error, site), problem=text, instead=instead)
    return True


def _written_out(frame: FrameType, site: Site) -> str:
    """The explicit construction of a record that `dataclasses.replace` cannot build from a run-time value."""
    for name in words(site):
        found = frame.f_locals.get(name, frame.f_globals.get(name))
        kind = expr_of(found).type if is_value(found) else None
        if isinstance(kind, t.Record):
            fields = ", ".join(f"{one.name}={name}.{one.name}" for one in kind.fields)
            return f"write it out, with what is to differ: `{kind.cls.__name__}({fields})`"
    return ""


def _reads_a_value(frame: FrameType, site: Site) -> bool:
    """Whether the expression at a site uses a run-time value: by name, in a list or dict, by a call."""
    for name in words(site):
        found = frame.f_locals.get(name, frame.f_globals.get(name))
        if is_value(found) or isinstance(found, Declared):
            return True
        contents = list(found.values()) if is_dict(found) else items_of(found)
        if any(map(is_value, contents or ())):
            return True
    return False


def _asking(function: FunctionType) -> set[int]:
    """The ids of code, in a body and the functions it calls by name, with tests that no stand-in can observe.

    Whether something is None, of which class it is an instance, or whether a `match` fits it.
    """
    asked: set[int] = set()
    seen: set[int] = set()
    todo = [(function.__code__, function.__code__)]
    while todo:
        code, owner = todo.pop()
        if id(code) in seen:
            continue
        seen.add(id(code))
        if not code.co_name.startswith("<"):  # not that of a comprehension or lambda
            owner = code
        operations = code.co_code[::2]
        if any(map(operations.__contains__, _UNSEEN)) or "isinstance" in code.co_names:
            asked.add(id(owner))
        todo.extend((one, owner) for one in code.co_consts if isinstance(one, CodeType))
        named = (function.__globals__.get(name) for name in code.co_names)
        calls = [one.__code__ for one in named if type(one) is FunctionType and _is_users(one)]
        todo.extend(zip(calls, calls, strict=True))
    return asked


def _is_users(function: FunctionType) -> bool:
    top = function.__module__.partition(".")[0]
    return top != "flowdsl" and top not in sys.stdlib_module_names


def _remember_locals(asking: set[int], graph: Graph) -> Any:
    def hook(frame: FrameType, event: str, argument: object) -> None:
        if event == "return" and id(frame.f_code) in asking:
            graph.locals.append((frame.f_code, ChainMap(dict(frame.f_locals), frame.f_globals)))

    return hook


def _lost_text(trace: Trace) -> None:
    if trace.failed:  # a mistake may be the reason that they were lost
        return
    for number, made in enumerate(trace.tokens):
        if number not in trace.arrived and not isinstance(made.expr, (OnVolume, Stored, Held, Poison)):
            trace.report("LostText", made.site)
