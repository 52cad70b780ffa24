"""Adds a call to the graph. Arguments are bound by hand, so that every mistake has its own place."""

# pyright: reportPrivateUsage=false
# (Users hold steps and pipelines, whose public names are those of Python functions.)

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from flowdsl.diagnostic import Related, near
from flowdsl.places.place import Argument, Definition, Place, Site
from flowdsl.tracing.trace import TOKEN, Call, Graph, Trace, held_in, not_text
from flowdsl.values import types as t
from flowdsl.values.changes import tell_changed
from flowdsl.values.expr import Best, Const, Expr, Held, OnVolume, Out, Poison, Rows, leaves
from flowdsl.values.later import later
from flowdsl.values.lift import items_of, lift, lift_plain
from flowdsl.values.signature import MISSING, Parameter, Signature
from flowdsl.values.value import RunTimeValue, expr_of, is_value, maker, outputs_of, value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.pipeline import Pipeline, PipelineDef
    from flowdsl.step import Step, StepDef


def add(
    trace: Trace,
    target: Step[..., Any] | Pipeline[..., Any],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    site: Site,
) -> RunTimeValue:
    """Record the call of a step or pipeline; returns the stand-in for its result."""
    call = begin(trace, target, site)
    definition = call.target
    bound = bind(trace, definition, args, kwargs, site)
    call.arguments = bound
    call.positional = len(args)
    trace.add(call)
    return value(result_of(call, definition.signature.returns))


def begin(trace: Trace, target: Step[..., Any] | Pipeline[..., Any], site: Site) -> Call:
    """A call in the current graph, without its arguments."""
    graph = trace.graph
    call = Call(target._definition, site, graph)
    call.region = graph.region
    if graph.finished is not None and graph.finished.parent is graph.region:
        graph.finished = None  # `otherwise` must follow its `when` directly
    if target._override_site is not None:
        options = dict(target._overrides)
        place = target._override_site
        for position, one in enumerate(target._unnamed):
            word, text = f"{call.target.name}.options", isinstance(one, str) and not is_value(one)
            trace.report("UnnamedOption", Argument(place, position=position), (), word=word, text=text)
        for name in _held(trace, options):
            del options[name]  # its mistake has been reported
        call.name = options.pop("name", None)
        after = options.pop("after", None)
        if (may_fail := options.pop("may_fail", None)) is None:
            may_fail = False
        if type(may_fail) is not bool:
            have = "a run-time value" if is_value(may_fail) else repr(may_fail)
            trace.report("NotAFlag", Argument(place, "may_fail"), (), word="may_fail", have=have)
        call.may_fail = may_fail is True
        call.after = () if after is None else tuple(waited(trace, graph, after, Argument(place, "after")))
        call.options = options
        call.override = place
    return call


def _held(trace: Trace, options: Mapping[str, object]) -> list[str]:
    """The options whose text contains something that exists only in a pod, which is reported there.

    All their texts count as used: the checks refuse other values of the run in them.
    """
    found: list[str] = []
    for name, written in options.items():
        texts = [str(one.value) for one in later(written) if not is_value(one.value)]
        numbers = [int(number) for text in texts for _, number, *_ in TOKEN.findall(text) if number]
        trace.arrived.update(numbers)
        for made in (trace.tokens[number] for number in numbers if number < len(trace.tokens)):
            if isinstance(made.expr, (Held, OnVolume)):
                trace.report("TextType", made.site, (), type=not_text(made.expr))
                found.append(name)
    return list(dict.fromkeys(found))


def waited(trace: Trace, graph: Graph, after: object, place: Place) -> list[Call]:
    """The calls that `after=` names."""
    found: list[Call] = []
    several = None if is_value(after) else items_of(after)
    for one in (after,) if several is None else several:
        expr = expr_of(one) if is_value(one) else None
        if isinstance(expr, Poison):
            continue
        calls = getattr(one, "_flowdsl_calls", []) if expr is None else calls_of(expr)
        if not calls or any(call.graph is not graph for call in calls):
            have = "a value" if expr is not None else type(one).__name__
            trace.report("NotATask", place, (), have="a result of another pipeline" if calls else have)
        else:
            found.extend(calls)
    return found


def calls_of(expr: Expr) -> list[Call]:
    """The calls whose outputs an expression uses."""
    makers = (leaf.task for leaf in leaves(expr) if isinstance(leaf, (Out, Rows, Best)))
    return [task for task in makers if isinstance(task, Call)]


def result_of(call: Call, returns: t.Type) -> Expr:
    """The result of a call: one output, or the fields of a record or tuple; rows for a loop."""
    if isinstance(returns, t.Unsupported):
        return Poison()  # reported once, at the definition
    if call.loop is not None:
        return Rows(call, returns, t.Sequence(returns))
    return outputs_of(returns, lambda name, kind: Out(call, name, kind))


def bind(
    trace: Trace,
    definition: StepDef | PipelineDef,
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    site: Site,
    given: frozenset[str] = frozenset(),
    loop: str = "",
) -> dict[str, Expr]:
    """The arguments of a call by parameter, each lifted to its type.

    `given` are the parameters that a loop fills, `loop` is its name. Each mistake is reported at its own argument.
    """
    signature = definition.signature
    parameters = signature.parameters
    if signature.variadic or signature.unreadable:
        return {parameter.name: Poison() for parameter in parameters}  # reported at the definition
    bound: dict[str, Expr] = {}
    positional = parameters
    if parameters and not parameters[-1].positional:  # keyword-only parameters are last
        positional = tuple(parameter for parameter in parameters if parameter.positional)
    surplus: list[str] = []  # the probable parameters of the surplus arguments
    if len(args) > len(positional):
        named = (one.name for one in parameters[len(positional) :] if one.name not in kwargs)
        surplus = list(islice(named, len(args) - len(positional)))
        _report_call(
            trace,
            "TooManyArguments",
            Argument(site, position=len(positional), arrived=len(args)),
            definition,
            step=definition.name,
            given=len(args),
            takes=len(positional),
            named=surplus[0] if surplus else "",
        )
    for index, (parameter, argument) in enumerate(zip(positional, args, strict=False)):
        bound[parameter.name] = lift_plain(argument, parameter.type) or _lift(
            trace, definition, parameter, argument, Argument(site, None, index, arrived=len(args))
        )
    unknown: list[str] = []
    for name, argument in kwargs.items():
        found = signature.by_name.get(name)
        if found is None or not (found.keyword or loop):  # a loop takes all by name
            unknown.append(name)
        elif name in bound or name in given:
            place = Argument(site, name, part="name")
            _report_call(trace, "RepeatedArgument", place, definition, step=definition.name, name=name)
        else:
            bound[name] = lift_plain(argument, found.type) or _lift(
                trace, definition, found, argument, Argument(site, name)
            )
    if len(bound) == len(parameters) and not unknown:
        return bound
    missing = [
        parameter
        for parameter in parameters
        if parameter.default is MISSING and parameter.name not in (*bound, *given, *surplus)
    ]
    if not trace.told(site, itself=True):  # `f(*rows)` of a run-time value passes nothing
        _misfits(trace, definition, signature, unknown, missing, site, loop)
    for parameter in parameters:
        if parameter.name not in bound and parameter.name not in given:
            bound[parameter.name] = default_of(trace, definition, parameter)
    return bound


def _misfits(
    trace: Trace,
    definition: StepDef | PipelineDef,
    signature: Signature,
    unknown: list[str],
    missing: list[Parameter],
    site: Site,
    loop: str,
) -> None:
    for name in unknown:
        # An unknown keyword and a missing parameter are one mistake: name the missing one.
        known = tuple(parameter.name for parameter in signature.parameters)
        close = near(name, known)
        option = close is None and name in definition.call_options
        if len(unknown) == 1 and len(missing) == 1 and close is None and not option:
            close = missing[0].name
        missing[:] = [parameter for parameter in missing if parameter.name != close]
        _report_call(
            trace,
            "UnknownParameter",
            Argument(site, name, part="name"),
            definition,
            step=definition.name,
            name=name,
            close=close or "",
            known=known,
            option=option,
        )
    for parameter in missing:
        _report_call(
            trace,
            "MissingArgument",
            site,
            definition,
            step=definition.name,
            name=parameter.name,
            parameter=parameter.spelled,
            loop=loop,
            named=parameter.keyword,
        )


def _report_call(
    trace: Trace, kind: str, place: Place, definition: StepDef | PipelineDef, **data: Any
) -> None:
    spelled = definition.signature.spell(definition.name)
    trace.report(kind, place, (Related(Definition(definition.code), spelled),), **data)


def _lift(
    trace: Trace,
    definition: StepDef | PipelineDef,
    parameter: Parameter,
    argument: object,
    place: Argument,
) -> Expr:
    def complain(kind: str, **data: Any) -> None:
        if kind == "WrongType":
            data = {"parameter": parameter.name, "step": definition.name, "maker": maker(argument), **data}
        where = place._replace(path=data.pop("inside", ()))
        _report_call(trace, kind, where, definition, **data)

    if isinstance(parameter.type, t.Unsupported):
        return Poison()  # reported once, at the definition
    made = lift(argument, parameter.type, complain)
    if not isinstance(made, Poison):
        tell_changed(complain, parameter.name, argument, parameter.type)
    return made


def default_of(trace: Trace, definition: StepDef | PipelineDef, parameter: Parameter) -> Expr:
    """The default of a parameter, lifted to its type; poison if there is none, or after a mistake."""
    known = trace.defaults.get((id(definition), parameter.name))
    if known is not None:
        return known
    if parameter.default is MISSING or isinstance(parameter.type, t.Unsupported):
        return Poison()

    def complain(kind: str, **data: Any) -> None:
        place = Definition(definition.code, parameter.name, "default")
        if kind == "WrongType":
            trace.report(
                "WrongDefault", place, (), parameter=parameter.name, want=data["want"], have=data["have"]
            )
        else:
            trace.report(kind, place, (), **data)

    for one in later(parameter.default):
        if not is_value(one.value) and (word := held_in(str(one.value))) is not None:
            complain("TextType", type=word)
            return Poison()
    made = lift(parameter.default, parameter.type, complain)
    if isinstance(made, Const):
        trace.defaults[id(definition), parameter.name] = made
    return made
