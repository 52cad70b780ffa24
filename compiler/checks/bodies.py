"""Checks of the functions of steps: results that JSON cannot represent, variables that steps believe to share."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from flowdsl.compiler.carry.scan import all_names
from flowdsl.compiler.carry.tree import Function, inside, local_names, root
from flowdsl.compiler.checks.attributes import unbound
from flowdsl.compiler.checks.body import Body, calls_by_target
from flowdsl.compiler.checks.calls import calls_of, uncalled
from flowdsl.compiler.checks.dynamic_names import looked_up, unpickled
from flowdsl.compiler.checks.exits import exits
from flowdsl.compiler.checks.file_modes import opened
from flowdsl.compiler.checks.file_names import file_names
from flowdsl.compiler.checks.images import images_by_step, unsuited
from flowdsl.compiler.checks.impossible import impossible
from flowdsl.compiler.checks.inference import NOT_DATA, Evident, suits
from flowdsl.compiler.checks.kinds import serves
from flowdsl.compiler.checks.left_behind import Written, left_behind
from flowdsl.compiler.checks.missing_files import gone
from flowdsl.compiler.checks.paths_as_text import path_as_text
from flowdsl.compiler.checks.read_only import read_only
from flowdsl.compiler.checks.returns import ends_without, open_end
from flowdsl.compiler.checks.terminal import terminal
from flowdsl.compiler.checks.variables import Variables
from flowdsl.compiler.findings import bodies as findings
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.mistakes.arguments import WrongType
from flowdsl.mistakes.bodies import WrongReturn
from flowdsl.mistakes.values import NothingMade
from flowdsl.pipeline import PipelineDef
from flowdsl.places.place import Definition
from flowdsl.tracing.body import KINDS as UNUSUAL
from flowdsl.values import types as t
from flowdsl.values.lift import spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from flowdsl.compiler.carry.carry import Carried, ModuleSource
    from flowdsl.compiler.checks.body import Calls
    from flowdsl.places.place import Span
    from flowdsl.step import StepDef
    from flowdsl.tracing.trace import Trace

_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_ALONE = frozenset((ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, *_NESTED))
_UNUSUAL = sum(UNUSUAL)
_ADD = ("add", "append", "appendleft", "extend", "insert", "setdefault", "update")
_TAKE = ("clear", "discard", "pop", "popitem", "remove", "reverse", "sort")
_CHANGES = frozenset((*_ADD, *_TAKE))


CHECKS: tuple[Callable[[Body], Iterable[Diagnostic]], ...] = (
    gone,
    exits,
    file_names,
    read_only,
    calls_of,
    impossible,
    opened,
    looked_up,
)
"""The checks that need only the function of a step and its calls."""


def check_bodies(
    steps: Iterable[StepDef],
    traces: Collection[Trace],
    module_of: Callable[[StepDef | PipelineDef], ModuleSource | None],
    carried: Callable[[StepDef], Carried | None],
) -> Iterator[Diagnostic]:
    """Findings about the bodies of Python steps, and about state that two of them seem to share."""
    bodies: list[Body] = []
    problems = (one.finding for trace in traces for one in trace.problems)
    # These are reported where the result is used, with the remedy.
    used = {one.maker for one in problems if isinstance(one, (WrongType, WrongReturn, NothingMade))}
    images = cache(lambda: images_by_step(traces))
    calls = cache(lambda: calls_by_target(traces))
    scripts: list[Written] = []
    for step in steps:
        body = None if step.kind != "python" else _body(step, module_of(step), calls)
        if body is not None:
            bodies.append(body)
            yield from _results(body, step.name in used)
            for check in CHECKS:
                yield from check(body)
            source = carried(step)
            if source is not None:
                written = Written(body, source.text, source.needs[1], source.lines)
                yield from unsuited(written, images)
                yield from terminal(written)
                yield from path_as_text(written)
                scripts.append(written)
    yield from left_behind(scripts, traces)
    yield from unpickled(scripts)
    owners = {id(graph.owner): graph.owner for trace in traces for graph in trace.graphs.values()}
    for owner in owners.values():
        module = module_of(owner)
        if module is not None and (node := module.file.function(owner.code)) is not None:
            yield from uncalled(node, module)
    if any(body.changed for body in bodies):
        found = (_body(owner, module_of(owner), calls) for owner in owners.values())
        yield from _shared(bodies, [*bodies, *(one for one in found if one is not None)])


def _body(definition: StepDef | PipelineDef, module: ModuleSource | None, calls: Calls) -> Body | None:
    if module is None or (node := module.file.function(definition.code)) is None:
        return None
    names = {*all_names(definition.code)}
    returns: list[ast.Return] = []
    todo = [*node.body]
    while todo:
        one = todo.pop()
        if isinstance(one, ast.Return):
            returns.append(one)
        elif type(one) not in _ALONE:
            todo.extend(inside(one))
    shared = names & module.containers
    changed, read = _uses(node, module, shared) if shared else ({}, {})
    inputs = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    variables = Variables(node.body, {one for one in module.joins if one.partition(".")[0] not in inputs})
    evident = Evident(definition, variables, module)
    return Body(definition, module, node, names, returns, changed, read, variables, evident, calls)


def _uses(
    function: Function, module: ModuleSource, names: set[str]
) -> tuple[dict[str, Span], dict[str, Span]]:
    """Where a function changes the lists and dicts of those names, and where it reads them."""
    changed: dict[str, Span] = {}
    read: dict[str, Span] = {}
    names = names - {*local_names(function)}
    changing: set[int] = set()
    todo: list[ast.AST] = [*function.body]
    while todo:
        one = todo.pop()
        match one:
            case ast.Call(ast.Attribute(ast.Name(name) as inner, verb)) if verb in _CHANGES and name in names:
                changed.setdefault(name, module.span(one))
                changing.add(id(inner))
            case ast.Subscript(ctx=ast.Store() | ast.Del()) if (base := root(one)) in names:
                changed.setdefault(str(base), module.span(one))
                changing.update(id(inner) for inner in ast.walk(one.value))
            case ast.Name(name, ast.Load()) if name in names and id(one) not in changing:
                read.setdefault(name, module.span(one))
            case _:
                pass
        if not isinstance(one, _NESTED):
            todo.extend(ast.iter_child_nodes(one))
    return changed, read


# --- results -----------------------------------------------------------------------------------------


def _results(body: Body, used: bool) -> Iterator[Diagnostic]:
    """Results that are missing, or that JSON cannot represent; `used`: a missing one is reported elsewhere."""
    step = body.step
    kind = step.signature.returns
    # The result of a daemon is its address, whatever its function returns.
    needed = not isinstance(kind, (t.Nothing, t.Maybe, t.Json, t.Unsupported)) and not serves(step)
    returned = body.returned
    if needed and not step.code.co_flags & _UNUSUAL:
        end = open_end(body)
        if returned:
            yield from ends_without(body, end)
        elif end is not None and not _is_sketch(body.node):
            yield Diagnostic(findings.NoResult(step.name, t.spell(kind)), Definition(step.code, "return"))
    annotated = step.signature.annotated
    if isinstance(kind, t.Nothing):
        lost = [value for value in returned if _is_lost(value, annotated)]
        returned = [value for value in returned if annotated and isinstance(value, ast.Constant)]
        if lost and not used and not step.code.co_freevars:  # otherwise it is not a step, which is reported
            first = min(lost, key=lambda value: value.lineno)
            yield Diagnostic(findings.ResultLost(step.name, annotated), body.module.span(first))
    if isinstance(kind, t.Unsupported):
        return  # reported at the annotation
    for value in returned:
        yield from _flaws(value, kind, body)
    if isinstance(kind, t.Record):
        yield from _made(kind, body)


def _made(kind: t.Record, body: Body) -> Iterator[Diagnostic]:
    """Calls of the result class with arguments that it does not accept."""
    name = kind.cls.__name__
    if body.module.namespace.get(name) is not kind.cls or name in body.definition.code.co_varnames:
        return
    for one in ast.walk(body.node):
        match one:
            case ast.Call(ast.Name(called)) if called == name:
                if problem := unbound(kind.cls, one):
                    fields = ", ".join(field.name for field in kind.fields)
                    way = f"its fields are {fields}"
                    finding = findings.NotMade(body.definition.name, name, problem, way)
                    yield Diagnostic(finding, body.module.span(one))
            case _:
                pass


def _is_lost(value: ast.expr, annotated: bool) -> bool:
    """Whether a returned expression is a value; `None` is not, and under `-> None` a call may return nothing."""
    if annotated:
        return not isinstance(value, (ast.Call, ast.Constant))  # another constant has the wrong type
    return not isinstance(value, ast.Constant) or value.value is not None


def _is_sketch(node: Function) -> bool:
    """Whether a body is `...`, not yet implemented."""
    last = node.body[-1]
    return isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant) and last.value.value is ...


def _flaws(node: ast.expr, kind: t.Type, body: Body) -> Iterator[Diagnostic]:
    """Parts of a returned expression that cannot be passed on unchanged."""
    if body.evident.hands_on(node, kind):
        return
    made = body.evident.of(node)
    match node, kind:
        case ast.IfExp(_, one, other), _:
            yield from _flaws(one, kind, body)
            yield from _flaws(other, kind, body)
        case _ if made in NOT_DATA:
            yield _not_json(node, body, *NOT_DATA[made])
        case ast.Constant(), _:
            if not _fits(node.value, kind):
                yield _wrong(node, body, kind, spelled(node.value))
        case _ if made is not None and not suits(made, kind):
            yield _wrong(node, body, kind, "None" if made == "NoneType" else made)
        case ast.Dict(keys, values), t.Mapping() | t.Json():
            for key in keys:
                yield from _key(key, kind, body)
            for key, value in zip(keys, values, strict=True):
                if key is not None:  # otherwise the entries of another dict
                    yield from _flaws(value, kind.item if isinstance(kind, t.Mapping) else kind, body)
        case ast.Tuple(), t.Json():
            way = "return a list: what gets it will get one"
            finding = findings.ChangedByJson("a tuple", "a list", "tuples", way)
            yield Diagnostic(finding, body.module.span(node))
        case ((ast.List(items) | ast.Tuple(items)), (t.Sequence() | t.Json())):
            for item in items:
                yield from _flaws(item, kind.item if isinstance(kind, t.Sequence) else kind, body)
        case ((ast.Tuple(items) | ast.List(items)), t.Fixed(kinds)) if len(items) != len(
            kinds
        ) and not _unpacks(items):
            yield _wrong(node, body, kind, f"{len(items)} value{'s' * (len(items) != 1)}")
        case ast.Tuple(items), t.Fixed(kinds) if not _unpacks(items):
            for item, of in zip(items, kinds, strict=True):
                yield from _flaws(item, of, body)
        case ast.Call(ast.Name(name), items, keywords), t.Record(cls, fields) if name == cls.__name__:
            for item, field in zip([] if _unpacks(items) else items, fields, strict=False):
                yield from _flaws(item, field.type, body)
            types = {field.name: field.type for field in fields}
            for keyword in keywords:
                if keyword.arg in types:
                    yield from _flaws(keyword.value, types[keyword.arg], body)
        case _:
            return


def _unpacks(items: list[ast.expr]) -> bool:
    return any(isinstance(item, ast.Starred) for item in items)


def _fits(value: object, kind: t.Type) -> bool:
    """Whether the script accepts a constant for the type."""
    match kind:
        case t.Maybe(item) if value is not None:
            return _fits(value, item)
        case t.Choice(values):
            return any(type(one) is type(value) and one == value for one in values)
        case _:
            return suits(type(value).__name__, kind)


def _key(key: ast.expr | None, kind: t.Type, body: Body) -> Iterator[Diagnostic]:
    if isinstance(kind, t.Mapping) and isinstance(kind.item, t.File) and _is_no_name(key):
        assert key is not None
        yield Diagnostic(findings.FileKey(body.definition.name, ast.unparse(key)), body.module.span(key))
    if not isinstance(key, (ast.Constant, ast.Tuple)):
        return
    value = key.value if isinstance(key, ast.Constant) else ()
    if isinstance(kind, t.Mapping) and not isinstance(kind.key, t.Text):
        if t.key_text(value, kind.key) is None and not isinstance(value, bool):
            yield _wrong(key, body, kind, f"a dict with the key {ast.unparse(key)}")
        return
    if isinstance(value, str):
        return
    shown = ast.unparse(key)
    if isinstance(kind, t.Json) and (value is None or isinstance(value, (int, float))):
        import json

        text = json.dumps(json.dumps(value))
        arrives = f"the text {text}"
        way = f"write the key as a string, and read it as one: `{text}`"
        finding = findings.ChangedByJson(f"the key {shown}", arrives, "keys but strings", way)
        yield Diagnostic(finding, body.module.span(key))
    else:
        yield _not_json(key, body, f"the key {shown}", "write the keys as strings")


def _is_no_name(key: ast.expr | None) -> bool:
    """Whether a literal key cannot be a file name, as far as that is known."""
    match key:
        case ast.Constant(str() as text):
            return text in ("", ".", "..") or "/" in text or "\0" in text
        case ast.JoinedStr(parts):
            texts = [part.value for part in parts if isinstance(part, ast.Constant)]
            return any("/" in str(text) for text in texts)
        case _:
            return False


def _wrong(node: ast.expr, body: Body, kind: t.Type, have: str) -> Diagnostic:
    return Diagnostic(WrongReturn(body.definition.name, t.spell(kind), have), body.module.span(node))


def _not_json(node: ast.expr, body: Body, what: str, way: str) -> Diagnostic:
    return Diagnostic(findings.NotJson(body.definition.name, what, way), body.module.span(node))


# --- variables ------------------------------------------------------------------------------------


def _shared(steps: list[Body], readers: list[Body]) -> Iterator[Diagnostic]:
    """Lists and dicts that one step changes and another function reads as if they were shared."""
    for body in steps:
        for name, place in body.changed.items():
            for other in readers:
                if other is body or other.module is not body.module or name in other.changed:
                    continue
                if name in other.read:
                    finding = findings.SharedState(body.definition.name, name, other.definition.name)
                    yield Diagnostic(finding, place, (Related(other.read[name], "read here"),))
                    break
