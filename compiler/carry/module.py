"""A user's module as top-level statements, indexed by the names that they define."""

from __future__ import annotations

import ast
import builtins
import os.path
import sys
from functools import cached_property, partial
from importlib.util import resolve_name
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, cast

from flowdsl.artifact import Artifact
from flowdsl.compiler.carry.scan import keeps_something, scan
from flowdsl.compiler.carry.text import OLDEST
from flowdsl.compiler.carry.tree import (
    Definition,
    Function,
    Import,
    bound_name,
    called,
    defaults,
    first_line,
    functions,
    root,
    touched,
    value_of,
    walrus,
    written_origin,
)
from flowdsl.compiler.findings.kinds import WORDS
from flowdsl.diagnostic import near
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.pipeline import Pipeline
from flowdsl.places.place import Span
from flowdsl.step import Step
from flowdsl.values.value import RunTimeValue
from flowdsl.volume import Secret, Volume, VolumePath

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import CodeType

    from flowdsl.diagnostic import Diagnostic
    from flowdsl.places.source import SourceFile

IN_THE_PIPELINE = "do it in the pipeline, and pass the step what it needs as arguments"
_DECORATORS = ("step", "container", "pipeline")
# Names that every script has; an annotated assignment at module level reads the last one.
_OF_A_SCRIPT = {"__name__", "__file__", "__doc__", "__spec__", "__package__", "__loader__", "__builtins__"}
_OF_A_SCRIPT.add("__annotations__")
_DEFINED = regex(r"(?:async\s+)?(?:def|class)\s+(\w+)")
_MISSING: Any = object()


class Piece(NamedTuple):
    """A statement to be carried."""

    kind: str  # "import", "line", "block" or "definition"
    text: str
    reads: tuple[str, ...]  # names of the module that it needs
    hints: tuple[str, ...] = ()  # names in annotations, carried if the module has them
    binds: tuple[str, ...] = ()
    python: int = OLDEST
    found: tuple[Diagnostic, ...] = ()


class Trouble(NamedTuple):
    """Why a name cannot be carried: the kind of finding, and its data besides the name."""

    kind: str
    data: dict[str, str]


def _attributes(function: ast.stmt) -> Iterator[str]:
    """The names whose attributes a function sets."""
    for node in ast.walk(function):
        match node:
            case ast.Attribute(ctx=ast.Store()):
                owner: str | None = root(node)
            case ast.Call(ast.Name("setattr"), [first, *_]):
                owner = root(first)
            case _:
                continue
        if owner is not None:
            yield owner


class ModuleSource:
    """A module of the user: its file, its namespace, and the statements that define its names.

    Created once for each module, in one pass over its top-level statements. Everything else is computed
    on first use and cached. `file` is parsed; `namespace` is the `__dict__` of the module.
    """

    def __init__(self, file: SourceFile, namespace: Mapping[str, Any]) -> None:
        if file.tree is None:
            raise ValueError(f"{file.filename} is not Python")
        self.file = file
        self.namespace = namespace
        self.body = file.tree.body
        self.touches: list[dict[str, bool]] = []  # by statement: its names, and whether it defines them
        self.binders: dict[str, list[int]] = {}  # the statements that touch a name
        self.registries: set[str] = set()  # lists and dicts that decorators modify
        self.pieces: dict[object, Piece] = {}
        # Names of lists, dicts and sets.
        self.containers = {name for name, value in namespace.items() if isinstance(value, (list, dict, set))}
        self._defined: set[str] = set()
        self._stars: list[int] = []
        self._functions: dict[tuple[int, str], int] = {}
        self._resolved: dict[str, tuple[int, ...] | Trouble | None] = {}
        self._paths: dict[str, str | None] = {}
        self._makes_step: dict[ast.expr, bool] = {}
        imported: set[str] = set()
        has_walrus = ":=" in file.text
        for index, node in enumerate(self.body):
            names: dict[str, bool] = {}
            for name, defines in touched(node):
                names[name] = names.get(name, False) or defines
            if isinstance(node, Definition):
                names = {**dict.fromkeys(self._changed_by(node, imported), False), **names}
                if isinstance(node, Function):
                    self._functions[first_line(node), node.name] = index
            elif isinstance(node, Import):
                imported.update(names)
                if node.names[0].name == "*":
                    self._stars.append(index)
            else:
                if has_walrus:
                    names.update(walrus(node))
                filled = [name for name in self._filled_by(node) if name in self._defined - imported]
                names = {**names, **dict.fromkeys(filled, False)}
            self.touches.append(names)
            for name, defines in names.items():
                self.binders.setdefault(name, []).append(index)
                if defines:
                    self._defined.add(name)

    def _changed_by(self, node: Function | ast.ClassDef, imported: set[str]) -> list[str]:
        """The other names that a definition modifies: registries, and base classes that record their subclasses."""
        changed = [name for one in node.decorator_list for name in self._registries_of(one, imported)]
        self.registries.update(changed)
        if changed and any(map(self.makes_step, node.decorator_list)):
            changed = []
        if isinstance(node, ast.ClassDef):
            told = (name for name in self._told_of(node) if name in self.binders and name not in imported)
            changed = [*told, *changed]
        return changed

    def _registries_of(self, decorator: ast.expr, imported: set[str]) -> Iterator[str]:
        """What a decorator modifies: `models` is incomplete without what `@models.register` has added to it.

        Also a list or dict of the module that a function of the module adds to: `@register`.
        """
        function = called(decorator)
        if isinstance(function, ast.Attribute):
            changed = root(function)
            if changed in self.binders and changed not in imported:
                yield changed
        elif isinstance(function, ast.Name):
            value = self.namespace.get(function.id)
            if type(value) is FunctionType and value.__globals__ is self.namespace:
                yield from self._containers_in(value)

    def _told_of(self, node: ast.ClassDef) -> Iterator[str]:
        """The base classes that register a class: one that records its subclasses is incomplete without them."""
        value = self.namespace.get(node.name)
        made: type[Any] = value if isinstance(value, type) else object
        maker: type[Any] = type(made)
        bases, makers = made.__mro__[1:], maker.__mro__
        hooks = [vars(cls).get("__init_subclass__") for cls in bases]
        hooks += [vars(cls).get(name) for cls in makers for name in ("__new__", "__init__")]
        keeps = "__subclasses__" in self.file.text
        for hook in hooks:
            function = getattr(hook, "__func__", hook)
            if type(function) is not FunctionType or function.__globals__ is not self.namespace:
                continue
            if keeps_something(function.__code__):
                keeps = True
                yield from self._containers_in(function)
        if keeps:
            yield from (cls.__name__ for cls in (*bases, *makers))

    def _filled_by(self, node: ast.stmt) -> Iterator[str]:
        """The classes and objects of the module whose attributes a called function sets: `setup(config)`."""
        match node:
            case ast.Expr(ast.Call(ast.Name(name), given)):
                function = self.namespace.get(name)
            case _:
                return
        if type(function) is not FunctionType or function.__globals__ is not self.namespace:
            return
        index = self.index_of(function.__code__)
        own = {*function.__code__.co_varnames}
        changed = set[str]() if index is None else {*_attributes(self.body[index])}
        if changed & own:
            changed |= {one.id for one in given if isinstance(one, ast.Name)}
        for one in sorted(changed - own):
            value = self.namespace.get(one)
            made = value if isinstance(value, type) else type(value)
            if made.__module__ == self.namespace.get("__name__"):
                yield one

    def _containers_in(self, function: FunctionType) -> Iterator[str]:
        for name in scan(function.__code__).names:
            if issubclass(type(self.namespace.get(name)), (list, dict, set)):
                yield name

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the file."""
        return list(ast.walk(ast.Module(self.body, [])))

    @cached_property
    def joins(self) -> set[str]:
        """What this module has for `os.path.join`: names of it, and names of `os.path` with `.join`."""
        known = self.namespace.items()
        modules = {f"{name}.join" for name, value in known if value is os.path}
        return {name for name, value in known if value is os.path.join} | modules

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.arg) -> Span:
        """The span of a node."""
        return self.file.node(node)

    def name_span(self, node: ast.stmt) -> Span:
        """The span of the name in a definition; of another statement, all of it."""
        whole = self.span(node)
        found = _DEFINED.match(self.file.lines[node.lineno - 1], whole.column - 1)
        if found is None or not isinstance(node, Definition):
            return whole
        return Span(whole.file, whole.line, found.start(1) + 1, whole.line, found.end(1) + 1)

    def use(self, node: ast.stmt, name: str) -> Span:
        """The first place where a statement reads a name; in a function, the body takes precedence."""
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
        """The code that a function was compiled to when the module was loaded, if it still exists."""
        value = self.namespace.get(node.name)
        if type(value) is Step:
            value = value.__wrapped__
        if type(value) is not FunctionType or value.__globals__ is not self.namespace:
            return None
        code = value.__code__
        return code if (code.co_firstlineno, code.co_name) == (first_line(node), node.name) else None

    def resolve(self, name: str) -> tuple[int, ...] | Trouble | None:
        """The statements that define a name; None if every script has it."""
        if name not in self._resolved:
            self._resolved[name] = self._resolve(name)
        return self._resolved[name]

    def _resolve(self, name: str) -> tuple[int, ...] | Trouble | None:
        value = self.namespace.get(name, _MISSING)
        indices = tuple(self.binders.get(name, ()))
        if value is _MISSING:
            if hasattr(builtins, name):
                return None
            # A branch that was not taken here, or an import that failed, may succeed in the pod.
            return indices if name in self._defined else Trouble("UndefinedName", {})
        if is_ours(value):
            if (
                is_plain_step(value)
                and indices
                and name in [one.name for one in functions(self.body[indices[-1]])]
            ):
                return indices
            what, hint = _word(name, value, self.namespace.get("__name__"))
            return Trouble("LanguageWord", {"what": what, "hint": hint})
        if name in self._defined:
            return indices
        for index in reversed(self._stars):
            if self._gives(index, name, value):
                return (index, *indices)
        if name in _OF_A_SCRIPT or getattr(builtins, name, _MISSING) is value:
            return None
        return Trouble("NoStatement", {})

    def _gives(self, index: int, name: str, value: object) -> bool:
        node = self.body[index]
        assert isinstance(node, ast.ImportFrom)
        return getattr(sys.modules.get(self.origin(node)), name, _MISSING) is value

    def origin(self, node: ast.ImportFrom) -> str:
        """The module of a `from` import: the absolute name, also of a relative import if the file is in a package."""
        try:
            return resolve_name(written_origin(node), self.namespace.get("__package__"))
        except ImportError:
            return written_origin(node)

    def meant(self, name: str, beside: Iterable[str]) -> str:
        """The name that an undefined name probably stands for: one of the module, or one in `beside`; or nothing."""
        known = [known for known in self.namespace if not known.startswith("_")]
        # A short name is more likely a forgotten import than a variable.
        return near(name, [*known, *(beside if len(name) > 2 else ())]) or ""

    def is_for_types(self, name: str) -> bool:
        """Whether a name is imported for type checkers only, below `if TYPE_CHECKING:`."""
        blocks = [one for one in self.body if isinstance(one, ast.If)]
        return any(
            bound_name(alias, statement) == name
            for block in blocks
            if ast.unparse(block.test).rpartition(".")[2] == "TYPE_CHECKING"
            for statement in block.body
            if isinstance(statement, Import)
            for alias in statement.names
        )

    def class_name(self, cls: type[Any]) -> str | None:
        """The expression by which the module refers to a class (`Row`, `shapes.Row`), or None."""
        short = cls.__name__
        if self.namespace.get(short) is cls:
            return short
        for name, value in self.namespace.items():
            if value is cls:
                return name
            if type(value) is ModuleType and name in self.binders and getattr(value, short, None) is cls:
                return f"{name}.{short}"
        first, *rest = cls.__qualname__.split(".")
        found: object = self.namespace.get(first)
        for name in rest:
            found = getattr(found, name, None)
        return ".".join((first, *rest)) if found is cls else None

    def is_importable(self, cls: type[Any]) -> bool:
        """Whether a class can be imported in a script by its name from another module."""
        found: Any = sys.modules.get(cls.__module__)
        if found is None or not all(map(str.isidentifier, cls.__module__.split("."))):
            return False
        for name in cls.__qualname__.split("."):
            found = getattr(found, name, None)
        return found is cls and cls.__module__ != "__main__"

    def value_of(self, node: ast.expr) -> Any:
        """The value of a name in the module; see `tree.value_of`."""
        return value_of(node, self.namespace)

    def makes_step(self, decorator: ast.expr) -> bool:
        """Whether a decorator is one of flowdsl, or a function of the user that uses one."""
        known = self._makes_step.get(decorator)
        if known is None:
            word = called(decorator)
            value = self.value_of(word)
            known = self._makes_step[decorator] = _makes_step(
                value_of(word, self._local_words) if value is None else value
            )
        return known

    @cached_property
    def _local_words(self) -> dict[str, Any]:
        """The imports of flowdsl inside of functions."""
        package = sys.modules["flowdsl"]
        found: dict[str, Any] = {}
        for one in self.nodes:
            if isinstance(one, ast.Import) and any(alias.name == "flowdsl" for alias in one.names):
                found.update(
                    (bound_name(alias, one), package) for alias in one.names if alias.name == "flowdsl"
                )
            elif isinstance(one, ast.ImportFrom) and one.module == "flowdsl":
                words = [alias for alias in one.names if alias.name in _DECORATORS]
                found.update((bound_name(alias, one), getattr(package, alias.name)) for alias in words)
        return found

    def own_module(self, name: str) -> str | None:
        """The path of a module of the user's project, as that of this file is shown; None for any other module."""
        if name not in self._paths:
            from flowdsl.compiler.carry.project import path_in_project

            path = path_in_project(name, self.file.filename)
            folder = os.path.dirname(self.file.shown)  # noqa: PTH120 -- text, as code objects have it
            self._paths[name] = path and os.path.normpath(os.path.join(folder, path))  # noqa: PTH118
        return self._paths[name]


def _makes_step(value: Any) -> bool:
    """Whether a decorator is one of flowdsl, or a function that uses one."""
    while isinstance(value, partial):
        value = value.func
    if is_ours(value):
        return True
    if type(value) is not FunctionType:
        return False
    words = [value.__globals__.get(name) for name in scan(value.__code__).names]
    return any(
        is_ours(word) and (type(word) is ModuleType or getattr(word, "__name__", "") in _DECORATORS)
        for word in words
    )


def is_ours(value: object) -> bool:
    """Whether a value is flowdsl, belongs to it, or was created by it."""
    kind, name = type(value), None
    if isinstance(value, ModuleType):
        name = value.__name__
    elif issubclass(kind, (type, FunctionType, BuiltinFunctionType, MethodType)):
        name = getattr(value, "__module__", None)
    else:
        name = kind.__module__
    return isinstance(name, str) and (name == "flowdsl" or name.startswith("flowdsl."))


def is_plain_step(value: object) -> bool:
    """Whether a value is a Python step, which is a plain function outside of compilation."""
    if type(value) is not Step:
        return False
    step = cast("Step[..., Any]", value)
    return step._definition.kind == "python"  # pyright: ignore[reportPrivateUsage] -- it has no public names


def _word(name: str, value: Any, module: object) -> tuple[str, str]:
    """A description of an object of flowdsl, and what to do instead of using it in a step of a module."""
    kind = type(cast(object, value))
    if issubclass(kind, (Volume, VolumePath, Artifact)):
        place = f'{name} / "..."' if issubclass(kind, Volume) else name
        what = "a file of the cluster" if kind is Artifact else "a place on a volume"
        return what, f"give the step a parameter of type `Path`, and pass it `{place}`"
    if kind is Secret:
        return (
            "a secret",
            f'write `secrets={{"NAME": {name}}}` in the decorator, and read `os.environ["NAME"]`',
        )
    if kind is RunTimeValue:
        return "a value of the run", "give the step a parameter for it, and pass it as an argument"
    if kind is Pipeline:
        return "a pipeline", "call it in another pipeline"
    if is_plain_step(value):
        if (home := value._definition.function.__module__) != module:
            way = "or move what both need into a module of its own, without flowdsl"
            return f"a step of `{home}`", f"call it in the pipeline, and pass what it returns; {way}"
        return "a step with options", "call the function that was decorated"
    if kind is Step:
        kind_of_step: str = value._definition.kind
        return (
            "a container step" if kind_of_step == "container" else f"a step under `@{WORDS[kind_of_step]}`",
            "make two steps of it, and pass the result of one to the other in the pipeline",
        )
    return "a word of flowdsl", IN_THE_PIPELINE
