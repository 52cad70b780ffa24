"""What a returned expression is, where it is plain to see: as it is written, or as a parameter is annotated."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path
from typing import TYPE_CHECKING

from flowdsl.values import types as t

if TYPE_CHECKING:
    from flowdsl.compiler.carry.module import ModuleSource
    from flowdsl.compiler.carry.tree import Function
    from flowdsl.pipeline import PipelineDef
    from flowdsl.step import StepDef

WRITTEN = (ast.Name, ast.Call, ast.JoinedStr, ast.ListComp, ast.DictComp)
"""The expressions that may be."""
NOT_DATA = {
    **dict.fromkeys(("set", "frozenset"), ("a set", "return a list: `sorted(...)`")),
    **dict.fromkeys(("bytes", "bytearray"), ("bytes", "write them to a file, and return its `Path`")),
    **{
        name: (f"a {name} object", f"return a list: `list({name}(...))`")
        for name in ("enumerate", "filter", "map", "range", "reversed", "zip")
    },
}
"""Types whose values JSON does not have: how they are called, and the way out."""

_SELVES = ("str", "int", "float", "bool", "list", "tuple", "dict", *NOT_DATA)
_CALLS = {
    **dict(zip(_SELVES, _SELVES, strict=True)),
    **dict.fromkeys(("repr", "ascii", "format", "chr", "input"), "str"),
    **dict.fromkeys(("len", "ord"), "int"),
    **dict.fromkeys(("isinstance", "callable", "hasattr", "any", "all"), "bool"),
    "sorted": "list",
}
_METHODS = {"read_text": "str", "read_bytes": "bytes"}
_ACCEPTED = {"str": ("str",), "int": ("int", "bool"), "float": ("float", "int", "bool"), "bool": ("bool",)}


class Evident:
    """The expressions in the function of a step."""

    def __init__(self, step: StepDef | PipelineDef, node: Function, module: ModuleSource) -> None:
        self._step = step
        self._node = node
        self._module = module
        self._decorated = step.plain is not step.function
        self._own = {*step.code.co_varnames, *step.code.co_cellvars}
        self._changed: set[str] = set()
        self._assigned: dict[str, ast.expr] | None = None

    def of(self, node: ast.expr) -> str | None:
        """The name of its class; None where that is not plain to see."""
        if self._decorated:  # what it returns is what the decorator makes of it
            return None
        seen: set[str] = set()
        while isinstance(node, ast.Name) and node.id in self._own and node.id not in seen:
            seen.add(node.id)
            value = self._once().get(node.id)
            if value is None:
                return self._parameter(node.id)
            node = value
        match node:
            case ast.JoinedStr():
                return "str"
            case ast.ListComp():
                return "list"
            case ast.DictComp():
                return "dict"
            case ast.Call(ast.Name(name)) if name not in self._own and name not in self._module.namespace:
                return _CALLS.get(name) if hasattr(builtins, name) else None
            case ast.Call(ast.Name(name)) if (
                name not in self._own and self._module.namespace.get(name) is Path
            ):
                return "Path"
            case ast.Call(ast.Attribute(ast.Name("json"), "dumps")):
                return "str"
            case ast.Call(ast.Attribute(_, method), []) if method in _METHODS:
                return _METHODS[method]
            case _:
                return None

    def _once(self) -> dict[str, ast.expr]:
        """The values of the variables that are assigned once."""
        if self._assigned is None:
            times: dict[str, int] = {}
            values: dict[str, ast.expr] = {}
            for one in ast.walk(self._node):
                match one:
                    case (
                        ast.Name(name, ast.Store() | ast.Del())
                        | ast.ExceptHandler(name=str() as name)
                        | ast.MatchAs(name=str() as name)
                        | ast.MatchStar(str() as name)
                        | ast.MatchMapping(rest=str() as name)
                    ):
                        times[name] = times.get(name, 0) + 1
                    case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(
                        ast.Name(name), _, ast.expr() as value
                    ):
                        values[name] = value
                    case _:
                        pass
            self._changed = set(times)
            parameters = self._step.signature.by_name
            self._assigned = {
                name: value for name, value in values.items() if times[name] == 1 and name not in parameters
            }
        return self._assigned

    def _parameter(self, name: str) -> str | None:
        parameter = self._step.signature.by_name.get(name)
        if parameter is None or name in self._changed:
            return None
        return form(parameter.type)


def form(kind: t.Type) -> str | None:
    """The name of the class of the values of a type that has one."""
    match kind:
        case t.Maybe(item):
            return form(item)  # the function may have looked whether it is there
        case t.Text():
            return "str"
        case t.Number(name):
            return name
        case t.Flag():
            return "bool"
        case t.Sequence():
            return "list"
        case t.Fixed():
            return "tuple"
        case t.Mapping():
            return "dict"
        case t.File():
            return "Path"
        case _:
            return None


def suits(made: str, kind: t.Type) -> bool:
    """Whether the script takes a value of a class for one of the type. See `_PARTS` in `script_parts`."""
    match kind:
        case t.Maybe(item):
            return made == "NoneType" or suits(made, item)
        case t.Json() | t.Unsupported():
            return True
        case t.Nothing():
            return made == "NoneType"
        case t.Sequence() | t.Fixed():
            return made in ("list", "tuple")
        case t.Choice(values):
            return any(type(value).__name__ == made for value in values)
        case t.Enumeration() | t.Record():
            return False
        case _:
            wanted = form(kind)
            return wanted is None or made in _ACCEPTED.get(wanted, (wanted,))
