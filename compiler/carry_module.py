"""A user's module as statements, found by the names that they define."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from functools import cached_property, partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from flowdsl.compiler.carry_scan import scan
from flowdsl.compiler.carry_tree import (
    Definition,
    Function,
    Import,
    defaults,
    first_line,
    functions,
    registry,
    touched,
    walrus,
)
from flowdsl.pipeline import Pipeline
from flowdsl.place import Span
from flowdsl.source import Extent
from flowdsl.step import Step
from flowdsl.volume import Secret, Volume, VolumePath

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import CodeType

    from flowdsl.compiler.carry_piece import Piece
    from flowdsl.source import SourceFile

IN_THE_PIPELINE = "do it in the pipeline, and pass the step what it needs as arguments"
_DECORATORS = ("step", "container", "pipeline")
# What every script has; an annotated assignment at the top level reads the last one.
_OF_A_SCRIPT = {"__name__", "__file__", "__doc__", "__spec__", "__package__", "__loader__", "__builtins__"}
_OF_A_SCRIPT |= {"__annotations__"}
_DEFINED = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)")
_MISSING: Any = object()


class Trouble(NamedTuple):
    """Why a name cannot be carried: the kind of finding, and its data besides the name."""

    kind: str
    data: dict[str, str]


class ModuleSource:
    """One module of the user's: its file, what its names mean after loading, and which statements define them.

    Made once for each module, in one pass over its top-level statements. Everything else is looked at
    when a step needs it, and remembered here. `file` is parsed; `namespace` is the `__dict__` of the module.
    """

    def __init__(self, file: SourceFile, namespace: Mapping[str, Any]) -> None:
        if file.tree is None:
            raise ValueError(f"{file.filename} is not Python")
        self.file = file
        self.namespace = namespace
        self.body = file.tree.body
        self.binds: list[tuple[str, ...]] = []  # of each statement
        self.binders: dict[str, list[int]] = {}  # the statements of each name
        self.pieces: dict[object, Piece] = {}
        self._stars: list[int] = []
        self._functions: dict[tuple[int, str], int] = {}
        self._resolved: dict[str, tuple[int, ...] | Trouble | None] = {}
        self._paths: dict[str, str | None] = {}
        imported: set[str] = set()
        has_walrus = ":=" in file.text
        for index, node in enumerate(self.body):
            names = dict.fromkeys(touched(node))
            if isinstance(node, Definition):
                # `@models.register` changes `models`: who needs it needs what is in it.
                changed = (registry(decorator) for decorator in node.decorator_list)
                names.update(
                    {name: None for name in changed if name in self.binders and name not in imported}
                )
                if isinstance(node, Function):
                    self._functions[first_line(node), node.name] = index
            elif isinstance(node, Import):
                imported.update(names)
                if node.names[0].name == "*":
                    self._stars.append(index)
            elif has_walrus:
                names.update(dict.fromkeys(walrus(node)))
            self.binds.append(tuple(names))
            for name in names:
                self.binders.setdefault(name, []).append(index)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the file: only for what is reported, and for functions that are not at the top level."""
        return list(ast.walk(ast.Module(self.body, [])))

    @cached_property
    def functions(self) -> dict[tuple[int, str], Function]:
        """All functions of the file, by the first line and the name of their code."""
        return {(first_line(node), node.name): node for node in self.nodes if isinstance(node, Function)}

    def span(self, node: ast.expr | ast.stmt | ast.alias) -> Span:
        """Where a node is."""
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self.file.span(Extent(node.lineno, end_line, node.col_offset, end))

    def name_span(self, node: ast.stmt) -> Span:
        """The name in a definition; of another statement, all of it."""
        whole = self.span(node)
        found = _DEFINED.match(self.file.lines[node.lineno - 1], whole.column - 1)
        if found is None or not isinstance(node, Definition):
            return whole
        return Span(whole.file, whole.line, found.start(1) + 1, whole.line, found.end(1) + 1)

    def use(self, node: ast.stmt, name: str) -> Span:
        """The first place where a statement reads a name; a function's body comes before what is around it."""
        parts: list[ast.AST] = [*node.body, *defaults(node), node] if isinstance(node, Function) else [node]
        for part in parts:
            found = [inner for inner in ast.walk(part) if isinstance(inner, ast.Name) and inner.id == name]
            if found:
                return self.span(min(found, key=lambda inner: (inner.lineno, inner.col_offset)))
        return self.name_span(node)

    def index_of(self, code: CodeType) -> int | None:
        """The top-level statement that a function's code was compiled from."""
        return self._functions.get((code.co_firstlineno, code.co_name))

    def code_of(self, node: ast.FunctionDef) -> CodeType | None:
        """The code that a function was compiled to when the module was loaded, if the module still has it."""
        value = self.namespace.get(node.name)
        if type(value) is Step:
            value = value.__wrapped__
        if type(value) is not FunctionType or value.__globals__ is not self.namespace:
            return None
        code = value.__code__
        return code if (code.co_firstlineno, code.co_name) == (first_line(node), node.name) else None

    def resolve(self, name: str) -> tuple[int, ...] | Trouble | None:
        """The statements that give a name its value; None when it is one that every script has."""
        if name not in self._resolved:
            self._resolved[name] = self._resolve(name)
        return self._resolved[name]

    def _resolve(self, name: str) -> tuple[int, ...] | Trouble | None:
        value = self.namespace.get(name, _MISSING)
        if value is _MISSING:
            return None if hasattr(builtins, name) else Trouble("UndefinedName", {"hint": self._hint(name)})
        indices = tuple(self.binders.get(name, ()))
        if is_ours(value):
            if (
                is_plain_step(value)
                and indices
                and name in [one.name for one in functions(self.body[indices[-1]])]
            ):
                return indices
            what, hint = _word(name, value)
            return Trouble("LanguageWord", {"what": what, "hint": hint})
        if indices:
            return indices
        for index in reversed(self._stars):
            if self._gives(index, name, value):
                return (index,)
        if name in _OF_A_SCRIPT or getattr(builtins, name, _MISSING) is value:
            return None
        return Trouble("NoStatement", {})

    def _gives(self, index: int, name: str, value: object) -> bool:
        node = self.body[index]
        module = node.module if isinstance(node, ast.ImportFrom) else None
        return getattr(sys.modules.get(module or ""), name, _MISSING) is value

    def _hint(self, name: str) -> str:
        from flowdsl.diagnostic import near

        close = near(name, (known for known in self.namespace if not known.startswith("_")))
        return f"did you mean `{close}`?" if close else "define it at the top of the file, or import it"

    def class_name(self, cls: type[Any]) -> str | None:
        """How the module calls a class (`Row`, `shapes.Row`), or None."""
        if self.namespace.get(cls.__name__) is cls:
            return cls.__name__
        for name, value in self.namespace.items():
            if value is cls:
                return name
            if (
                type(value) is ModuleType
                and getattr(value, cls.__name__, None) is cls
                and name in self.binders
            ):
                return f"{name}.{cls.__name__}"
        first, *rest = cls.__qualname__.split(".")
        found = self.namespace.get(first)
        for name in rest:
            found = getattr(found, name, None)
        return cls.__qualname__ if found is cls else None

    def makes_step(self, decorator: ast.expr) -> bool:
        """Whether a decorator is ours: one of flowdsl, or a function of the user's that uses one."""
        node = decorator.func if isinstance(decorator, ast.Call) else decorator
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        value = self.namespace.get(node.id) if isinstance(node, ast.Name) else None
        while attributes and type(value) is ModuleType:
            value = getattr(value, attributes.pop(), None)
        while isinstance(value, partial):
            value = value.func
        if is_ours(value) or type(value) is not FunctionType:
            return is_ours(value)
        words = [value.__globals__.get(name) for name in scan(value.__code__).names]
        return any(
            is_ours(word) and (type(word) is ModuleType or getattr(word, "__name__", "") in _DECORATORS)
            for word in words
        )

    def own_module(self, name: str) -> str | None:
        """Where a module of the user's project is, relative to the file; None for any other module."""
        if name not in self._paths:
            from flowdsl.compiler.carry_project import path_in_project

            self._paths[name] = path_in_project(name, self.file.filename)
        return self._paths[name]


def is_ours(value: object) -> bool:
    """Whether a value is flowdsl, a part of it, or was made by it."""
    kind = type(value)
    if isinstance(value, ModuleType):
        name = value.__name__
    elif issubclass(kind, (type, FunctionType, BuiltinFunctionType, MethodType)):
        name = getattr(value, "__module__", None)
    else:
        name = kind.__module__
    return isinstance(name, str) and (name == "flowdsl" or name.startswith("flowdsl."))


def is_plain_step(value: object) -> bool:
    """Whether a value is a Python step, which is a plain function where no pipeline is compiled."""
    return type(value) is Step and value._definition.kind == "python"


def _word(name: str, value: Any) -> tuple[str, str]:
    """What something of flowdsl is, and what to do instead of using it in a step."""
    kind = type(value)
    if kind is Volume or kind is VolumePath:
        place = name if kind is VolumePath else f'{name} / "..."'
        return "a place on a volume", f"give the step a parameter of type `Path`, and pass it `{place}`"
    if kind is Secret:
        return (
            "a secret",
            f'write `secrets={{"NAME": {name}}}` in the decorator, and read `os.environ["NAME"]`',
        )
    if kind is Pipeline:
        return "a pipeline", "call it in another pipeline"
    if is_plain_step(value):
        return "a step with options", "call the function that was decorated"
    if kind is Step:
        return (
            "a container step",
            "make two steps of it, and pass the result of one to the other in the pipeline",
        )
    return "a word of flowdsl", IN_THE_PIPELINE
