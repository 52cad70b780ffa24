"""Infers the class of an expression in the function of a step, where it is certain."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING

from flowdsl.step import Step
from flowdsl.values import types as t
from flowdsl.values.textual import Textual

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.compiler.carry.module import ModuleSource
    from flowdsl.compiler.checks.variables import Variables
    from flowdsl.pipeline import PipelineDef
    from flowdsl.step import StepDef

_SORTED = "return a list: `sorted(...)`"
_WRITTEN = "return a list: write it in brackets"
NOT_DATA = {
    **dict.fromkeys(("set", "frozenset"), ("a set", _SORTED)),
    **dict.fromkeys(("bytes", "bytearray"), ("bytes", "write them to a file, and return its `Path`")),
    **{
        name: (f"a {name} object", f"return a list: `list({name}(...))`")
        for name in ("enumerate", "filter", "map", "range", "reversed", "zip")
    },
    **{name: (f"a {name} object", "return a list: `list(...)`") for name in ("dict_keys", "dict_values")},
    "dict_items": ("a dict_items object", "return the dict"),
    "generator": ("a generator", _WRITTEN),
    "files": ("a generator", _SORTED),
    "complex": ("a complex number", "return its parts: a list of two floats"),
    "function": ("a function", "call it"),
    "class": ("a class", "return one of its values"),
    "module": ("a module", "return a value"),
}
"""Types whose values JSON cannot represent: a description, and the remedy."""

_SELVES = ("str", "int", "float", "bool", "list", "tuple", "dict", *NOT_DATA)
_CALLS = {
    **{name: name for name in _SELVES if hasattr(builtins, name)},
    **dict.fromkeys(("repr", "ascii", "format", "chr", "input"), "str"),
    **dict.fromkeys(("len", "ord"), "int"),
    **dict.fromkeys(("isinstance", "callable", "hasattr", "any", "all"), "bool"),
    "sorted": "list",
    "print": "NoneType",
}


def _methods(names: str, made: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), made)


_OF_ANY = {"read_text": "str", "read_bytes": "bytes", "write_text": "int", "write_bytes": "int"}
"""Methods that only paths have."""
_METHODS = {
    "str": {
        **_methods(
            "join strip lstrip rstrip lower upper title replace format removeprefix removesuffix", "str"
        ),
        **_methods("split rsplit splitlines", "list"),
        **_methods("startswith endswith isdigit isalpha isalnum", "bool"),
        **_methods("count find rfind index", "int"),
        "encode": "bytes",
    },
    "list": {
        **_methods("append extend insert sort reverse clear remove", "NoneType"),
        **_methods("count index", "int"),
        "copy": "list",
    },
    "dict": {
        **_methods("update clear", "NoneType"),
        **{name: f"dict_{name}" for name in ("keys", "values", "items")},
        "copy": "dict",
    },
    "Path": {
        **_methods("exists is_dir is_file", "bool"),
        **_methods("mkdir touch unlink rmdir", "NoneType"),
        **_methods("iterdir glob rglob", "files"),
    },
}
_DISPLAYS: dict[type[ast.expr], str] = {
    ast.JoinedStr: "str",
    **dict.fromkeys((ast.List, ast.ListComp), "list"),
    **dict.fromkeys((ast.Dict, ast.DictComp), "dict"),
    **dict.fromkeys((ast.Set, ast.SetComp), "set"),
    ast.Tuple: "tuple",
    ast.GeneratorExp: "generator",
    ast.Lambda: "function",
}
_NUMBERS = ("bool", "int", "float")
_SEQUENCES = ("str", "list", "tuple")
_COMPARED = (*_NUMBERS, *_SEQUENCES, "dict")
_ACCEPTED = {"str": ("str",), "int": ("int", "bool"), "float": ("float", "int", "bool"), "bool": ("bool",)}
_DEFINED = (
    (type, "class"),
    ((FunctionType, BuiltinFunctionType, Step), "function"),
    (ModuleType, "module"),
)


class Evident:
    """The types of expressions in the function of a step."""

    def __init__(self, step: StepDef | PipelineDef, variables: Variables, module: ModuleSource) -> None:
        self._step = step
        self._variables = variables
        self._module = module
        self._decorated = step.plain is not step.function
        self._own = {*step.code.co_varnames, *step.code.co_cellvars}
        self._known: dict[str, str | None] = {}
        self._found: dict[ast.expr, str | None] = {}

    def of(self, node: ast.expr) -> str | None:
        """The name of its class; None if it is not evident."""
        if node not in self._found:
            # A decorator may change what a function returns.
            self._found[node] = None if self._decorated else self._of(node)
        return self._found[node]

    def _of(self, node: ast.expr) -> str | None:
        match node:
            case ast.Constant(value):
                return type(value).__name__
            case ast.Name(name):
                return self._variable(name) if name in self._own else self._defined(name)
            case ast.Call():
                return self._called(node)
            case ast.BinOp():
                return self._computed(node)
            case ast.UnaryOp(ast.Not()):
                return "bool"
            case ast.UnaryOp(ast.UAdd() | ast.USub(), operand):
                return _sum(ast.Add(), "int", self.of(operand))
            case ast.BoolOp(_, values):
                return self._common(values)
            case ast.IfExp(_, one, other):
                return self._common((one, other))
            case ast.Compare(_, [ast.In() | ast.NotIn() | ast.Is() | ast.IsNot()]):
                return "bool"
            case ast.Compare(left, _, others):
                return "bool" if all(self.of(one) in _COMPARED for one in (left, *others)) else None
            case _:
                return _DISPLAYS.get(type(node))

    def hands_on(self, node: ast.expr, kind: t.Type) -> bool:
        """Whether it is a parameter whose class suits a type, however the function uses it.

        Not if it is rebound.
        """
        parameter = self._step.signature.by_name.get(node.id) if isinstance(node, ast.Name) else None
        made = None if parameter is None else form(parameter.type)
        return made is not None and suits(made, kind)

    def _variable(self, name: str) -> str | None:
        if name not in self._known:
            self._known[name] = None  # if it is computed from itself
            given = name in self._step.signature.by_name
            value = None if given else self._variables.once.get(name)
            self._known[name] = self._parameter(name) if value is None else self.of(value)
        return self._known[name]

    def _computed(self, node: ast.expr) -> str | None:
        """The class of chained operators: texts of many lines are concatenated."""
        rest: list[ast.BinOp] = []
        while isinstance(node, ast.BinOp):
            rest.append(node)
            node = node.left
        made = self.of(node)
        while rest and made is not None:
            last = rest.pop()
            made = _sum(last.op, made, self.of(last.right))
        return made

    def _common(self, nodes: Iterable[ast.expr]) -> str | None:
        kinds = {self.of(one) for one in nodes}
        return kinds.pop() if len(kinds) == 1 else None

    def _called(self, node: ast.Call) -> str | None:
        match node:
            case ast.Call(ast.Name("round" | "abs" as name), [number, *digits], []) if self._is_builtin(name):
                made = self.of(number)
                whole = made == "bool" or (made == "float" and name == "round" and not digits)
                return "int" if whole else made if made in _NUMBERS else None
            case ast.Call(ast.Name(name)) if self._is_builtin(name):
                return _CALLS.get(name)
            case ast.Call(ast.Name(name)) if name not in self._own:
                return "Path" if self._module.namespace.get(name) is Path else None
            case ast.Call(ast.Attribute(ast.Name("json"), "dumps")):
                return "str"
            case ast.Call(ast.Attribute(_, method)) if method in _OF_ANY:
                return _OF_ANY[method]
            case ast.Call(ast.Attribute(owner, method)):
                return _METHODS.get(self.of(owner) or "", {}).get(method)
            case _:
                return None

    def _is_builtin(self, name: str) -> bool:
        return name not in self._own and name not in self._module.namespace and hasattr(builtins, name)

    def _defined(self, name: str) -> str | None:
        """The class of a module's or built-in name; of built-in values only those that are no data."""
        value = (
            self._module.namespace.get(name)
            if name in self._module.namespace
            else getattr(builtins, name, None)
        )
        return next((made for kinds, made in _DEFINED if isinstance(value, kinds)), None)

    def _parameter(self, name: str) -> str | None:
        parameter = self._step.signature.by_name.get(name)
        if parameter is None or name in self._variables.times:
            return None
        return form(parameter.type)


def _sum(operator: ast.operator, left: str, right: str | None) -> str | None:
    """The class of the result of a binary operator; None if it is not evident."""
    if left in _NUMBERS and right in _NUMBERS:
        if isinstance(operator, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)):
            return "float" if "float" in (left, right) else "int"
        return "float" if isinstance(operator, ast.Div) else None
    match operator:
        case ast.Add() if left == right and left in _SEQUENCES:
            return left
        case ast.Mult() if left in _SEQUENCES and right in ("int", "bool"):
            return left
        case ast.Mod() if left == "str":
            return "str"
        case ast.Div() if left == "Path":
            return "Path"
        case _:
            return None


def form(kind: t.Type) -> str | None:
    """The class name of the values of a type, if it has one."""
    match kind:
        case t.Maybe(item):
            return form(item)  # the function may have tested for None
        case t.Text():
            return "str"
        case t.Number(name):
            return name
        case t.Flag():
            return "bool"
        case t.Sequence(_, tupled):
            return "tuple" if tupled else "list"
        case t.Fixed():
            return "tuple"
        case t.Mapping() | t.Entries():
            return "dict"
        case t.File():
            return "Path"
        case _:
            return None


def suits(made: str, kind: t.Type) -> bool:
    """Whether the script accepts a value of a class for the type. See `_PARTS` in `script_parts`."""
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
        case t.Enumeration() | t.Record() | Textual():
            return False
        case _:
            wanted = form(kind)
            return wanted is None or made in _ACCEPTED.get(wanted, (wanted,))
