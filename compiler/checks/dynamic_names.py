"""Names that a step looks up by their text, or in a pickle: its script has only those that it names itself."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.bodies import LookedUp
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.values.expr import Best, Out, Rows, leaves

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flowdsl.compiler.carry.module import ModuleSource
    from flowdsl.compiler.checks.body import Body
    from flowdsl.compiler.checks.left_behind import Written

_PICKLES = frozenset(("joblib", "pickle", "torch"))
_ASKS = frozenset(("globals", "modules"))


def looked_up(body: Body) -> Iterator[Diagnostic]:
    """Dynamic lookups in the step's module, except of names that the script certainly has."""
    step = body.step
    if _ASKS.isdisjoint(step.code.co_names):
        return
    has = {*step.code.co_names, *step.code.co_varnames}
    for one in ast.walk(body.node):
        name = _name(one)
        if name is None or not isinstance(one, ast.expr):
            continue
        if isinstance(name, ast.Constant) and (name.value in has or name.value not in body.module.namespace):
            continue
        yield Diagnostic(LookedUp(step.name, ast.unparse(one)), body.module.span(one))


def _name(node: ast.AST) -> ast.expr | None:
    """The name that an expression looks up in its module."""
    match node:
        case ast.Subscript(owner, name, ast.Load()) if _is_module(owner):
            return name
        case ast.Call(ast.Attribute(owner, "get"), [name, *_]) if _is_module(owner):
            return name
        case ast.Call(ast.Name("getattr"), [owner, name, *_]) if _is_own(owner):
            return name
        case _:
            return None


def _is_module(node: ast.expr) -> bool:
    match node:
        case ast.Call(ast.Name("globals"), [], []):
            return True
        case ast.Call(ast.Name("vars"), [owner], []):
            return _is_own(owner)
        case _:
            return False


def _is_own(node: ast.expr) -> bool:
    """Whether it is `sys.modules[__name__]`."""
    match node:
        case ast.Subscript(ast.Attribute(ast.Name("sys"), "modules"), ast.Name("__name__")):
            return True
        case _:
            return False


# --- objects that another step has pickled --------------------------------------------------------


def unpickled(steps: Sequence[Written]) -> Iterator[Diagnostic]:
    """Steps that load an object of a class of the file that another step has dumped, without naming the class."""
    dumped = {id(one.step): (name, node, one) for one in steps for name, node in _dumps(one)}
    for one in steps if dumped else ():
        load = next(_loads(one), None)
        given = (
            expr.task
            for call in (one.body.given if load is not None else ())
            for argument in call.arguments.values()
            for expr in leaves(argument)
            if isinstance(expr, (Out, Best, Rows)) and not isinstance(expr.task, str)
        )
        for task in given:
            name, node, other = dumped.get(id(task.target), ("", None, one))
            if load is not None and node is not None and f"class {name}" not in one.text:
                related = Related(other.body.module.span(node), f"dumped by `{other.step.name}`")
                finding = LookedUp(one.step.name, ast.unparse(load), name)
                yield Diagnostic(finding, one.body.module.span(load), (related,))
                break


def _dumps(one: Written) -> Iterator[tuple[str, ast.Call]]:
    """The classes of the file whose objects a step dumps directly."""
    if "dump" not in one.text and "save" not in one.text:
        return
    made: dict[str, list[str]] = {}
    for node in ast.walk(one.body.node):
        match node:
            case ast.Assign([ast.Name(name)], value):
                made.setdefault(name, []).append(_made(value, one.body.module))
            case _:
                pass
    for node in ast.walk(one.body.node):
        match node:
            case ast.Call(ast.Attribute(ast.Name(library), "dump" | "dumps" | "save"), [first, *_]):
                name = _made(first, one.body.module)
                if isinstance(first, ast.Name):
                    assigned = made.get(first.id, [])
                    name = assigned[0] if len(assigned) == 1 else ""
                if library in _PICKLES and name:
                    yield name, node
            case _:
                pass


def _made(node: ast.expr, module: ModuleSource) -> str:
    """The class of the file that a call instantiates."""
    match node:
        case ast.Call(ast.Name(name)):
            value = module.namespace.get(name)
            own = isinstance(value, type) and value.__module__ == module.namespace.get("__name__")
            return name if own else ""
        case _:
            return ""


def _loads(one: Written) -> Iterator[ast.Call]:
    for node in ast.walk(one.body.node) if "load" in one.text else ():
        match node:
            case ast.Call(ast.Attribute(ast.Name(library), "load" | "loads")) if library in _PICKLES:
                yield node
            case _:
                pass
