"""Turns a Python step into a script: its function, and the parts of its module that it uses.

What is used is found by Python's own scoping (`carry_scan`), statement by statement (`carry_piece`), in
the order of the file. What cannot be carried along is an error at its line.
"""

from __future__ import annotations

import ast
from collections import deque
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.carry.module import ModuleSource, Piece, Trouble
from flowdsl.compiler.carry.statement import finding, imported, inner_function, piece
from flowdsl.compiler.carry.text import OLDEST
from flowdsl.compiler.carry.tree import Function, Import, called, first_line, local_names, names_in
from flowdsl.diagnostic import Related, any_error
from flowdsl.grammar.named import NamedTuple
from flowdsl.places.place import Definition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import CodeType

    from flowdsl.diagnostic import Diagnostic
    from flowdsl.places.place import Place

__all__ = ["Carried", "ModuleSource", "carry"]

_NOT_CALLABLE = {0x20: "GeneratorStep", 0x80: "AsyncStep", 0x200: "AsyncStep"}  # the CO_ flags of inspect


class Carried(NamedTuple):
    """The source of a step's script, without its generated beginning and end.

    `text` has, in file order, the imports, constants, classes, helpers and the function itself; it
    belongs after `from __future__ import annotations`, and ends with a line break. `function` is the
    name of the function in it; `needs` the lowest Python by its syntax, as far as `ast.parse` can tell.
    """

    text: str
    function: str
    needs: tuple[int, int]
    classes: tuple[tuple[type[Any], str], ...] = ()  # each requested class, and its name in the text
    names: frozenset[str] = frozenset()  # defined by the text
    positional: tuple[str, ...] = ()  # positional-only parameters of the function
    lines: Callable[[], tuple[int, ...]] = tuple  # the line in the file of each statement of the text


def carry(
    function: FunctionType,
    module: ModuleSource,
    classes: Iterable[type[Any]] = (),
    made: Place | None = None,
    allowed: Callable[[Diagnostic], Diagnostic | None] | None = None,
) -> tuple[Carried | None, list[Diagnostic]]:
    """The source of a step's function and of everything that it uses from its module, or why there is none.

    `classes` (Enum, NamedTuple, dataclass) are those that the script converts inputs to; they
    are carried too. `made` is where the function was made a step. `allowed` maps a finding about
    a module of the user to the one to report: None if the step will have the module. There is no source if one
    of the findings is an error.
    """
    own = unwrapped(function)
    code = own.__code__ if isinstance(own, FunctionType) else None
    if code is None:
        name = getattr(function, "__name__", "function")
        return None, [finding("FunctionElsewhere", None, name=name)]
    node, found = _definition(own, code, module, made or Definition(code))
    if node is not None and not found:
        found = list(_unfit(function, node, module))
    if node is None or found:
        return None, found
    work = _Carrying(module, node, code, allowed)
    work.follow(classes)
    if any_error(work.found):
        return None, work.found
    return work.carried(), work.found


def unwrapped(function: Any) -> Any:
    """The function inside decorators that use `functools.wraps`."""
    seen: set[int] = set()
    while hasattr(function, "__wrapped__") and id(function) not in seen:
        seen.add(id(function))
        function = function.__wrapped__
    return function


def _definition(
    function: FunctionType, code: CodeType, module: ModuleSource, made: Place
) -> tuple[Function | None, list[Diagnostic]]:
    """The `def` of a step's function in its module."""
    if code.co_filename == module.file.filename:
        index = module.index_of(code)
        if index is not None:
            node = module.body[index]
            return (node, []) if isinstance(node, Function) else (None, [])
        if code.co_name == "<lambda>":
            return None, [finding("LambdaStep", _lambda(code, module) or Definition(code))]
    hiding = _hiding(code, module)
    if hiding is not None:
        return None, [finding("HiddenFunction", module.span(hiding), decorator=ast.unparse(called(hiding)))]
    inner = module.file.function(code)
    if inner is None or code.co_filename != module.file.filename:
        return None, [finding("FunctionElsewhere", made, name=function.__name__)]
    outer, _, name = function.__qualname__.rpartition("<locals>.")
    if "." in name:
        return None, [finding("MethodStep", module.name_span(inner), name=name)]
    if code.co_freevars:
        if not any(map(module.makes_step, inner.decorator_list)) and _wraps(function):
            decorator = outer.rstrip(".").rpartition(".")[2]
            return None, [finding("HiddenFunction", module.name_span(inner), decorator=decorator)]
        maker = outer.rstrip(".").rpartition(".")[2] or "a function"
        free = code.co_freevars
        data = {"step": inner.name, "outer": maker}
        return None, [finding("Closure", module.use(inner, one), name=one, **data) for one in free]
    return inner, []


def _wraps(function: FunctionType) -> bool:
    """Whether a function's closure contains another function, as the wrapper of a decorator does."""
    for cell in function.__closure__ or ():
        try:
            if isinstance(cell.cell_contents, FunctionType):
                return True
        except ValueError:  # an empty cell
            continue
    return False


def _unfit(function: FunctionType, node: Function, module: ModuleSource) -> Iterator[Diagnostic]:
    """Functions that a script cannot call, and decorators whose effect it would lack."""
    flags = unwrapped(function).__code__.co_flags
    for flag, kind in _NOT_CALLABLE.items():
        if flags & flag:
            yield finding(kind, module.name_span(node), step=node.name)
            break
    ours = [module.makes_step(decorator) for decorator in node.decorator_list]
    if True in ours:
        for decorator in node.decorator_list[: ours.index(True)]:
            shown = ast.unparse(called(decorator))
            yield finding("DecoratorAbove", module.span(decorator), decorator=shown, step=node.name)
    if all(ours) and isinstance(cast("object", function), FunctionType) and hasattr(function, "__wrapped__"):
        place = module.span(node.decorator_list[-1]) if ours else module.name_span(node)
        yield finding("LostWrapper", place, step=node.name)


def _lambda(code: CodeType, module: ModuleSource) -> Place | None:
    for node in module.nodes:
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            return module.span(node)
    return None


def _hiding(code: CodeType, module: ModuleSource) -> ast.expr | None:
    """The decorator of a step that returns a nested function: the one with this code."""
    for node in module.nodes:
        if isinstance(node, Function):
            above = False  # whether the decorator that makes it a step comes before
            for decorator in node.decorator_list:
                value = module.value_of(called(decorator))
                if above and _has(getattr(value, "__code__", None), code):
                    return decorator
                above |= module.makes_step(decorator)
    return None


def _has(outer: CodeType | None, code: CodeType) -> bool:
    if outer is None:
        return False
    return any(one is code or (type(one) is type(code) and _has(one, code)) for one in outer.co_consts)


class _Carrying:
    """The statements that one step needs, collected by following names."""

    def __init__(
        self,
        module: ModuleSource,
        node: Function,
        code: CodeType,
        allowed: Callable[[Diagnostic], Diagnostic | None] | None,
    ) -> None:
        self.module = module
        self.node = node
        self.code = code
        self.allowed = allowed
        self.index = module.index_of(code)
        self.found: list[Diagnostic] = []
        self.classes: list[tuple[type[Any], str]] = []
        self.whole: dict[int, Piece] = {}
        self.imports: dict[int, set[str]] = {}
        self.added: dict[str, Piece] = {}
        self.own = inner_function(module, node) if self.index is None else piece(module, self.index)
        if self.index is not None:
            self.whole[self.index] = self.own
        self._seen: set[str] = set()
        self._todo: deque[tuple[ast.stmt, Piece]] = deque([(node, self.own)])

    def follow(self, classes: Iterable[type[Any]]) -> None:
        """Add what the function and the classes need, transitively, until nothing is missing."""
        for cls in classes:
            name = self.module.class_name(cls) or self._import(cls)
            if name is None:
                short = cls.__qualname__.rpartition("<locals>.")[2]
                self.found.append(finding("UnknownClass", Definition(self.code), name=short))
                self._seen.add(short.partition(".")[0])  # reported once
            else:
                self.classes.append((cls, name))
                if name.partition(".")[0] not in self.added:
                    self._take(name.partition(".")[0], None)
        while self._todo:
            node, one = self._todo.popleft()
            self._report(one.found, node)
            for name in one.reads:
                self._take(name, node)
            for name in one.hints:
                self._take(name, None)
        for index, names in self.imports.items():
            self._report(imported(self.module, index, frozenset(names)).found, self.module.body[index])
        if self.index is not None:
            self._check_name(self.index)

    def _import(self, cls: type[Any]) -> str | None:
        """The name of a class of another module, such as that of a field, with an import that the file lacks."""
        name = cls.__qualname__
        first = name.partition(".")[0]
        if first in self.module.namespace or not self.module.is_importable(cls):
            return None
        if first not in self.added:
            made = Piece("import", f"from {cls.__module__} import {first}", (), binds=(first,))
            self.added[first] = made
            if (path := self.module.own_module(cls.__module__)) is not None:
                place = Definition(self.code)
                own = finding("OwnModule", place, module=cls.__module__, path=path, full=cls.__module__)
                self._report([own], self.node)
        return name

    def _take(self, name: str, user: ast.stmt | None) -> None:
        """Add the statements of a name that a statement reads; without a statement, of a name that may be missing."""
        if name in self._seen:
            return
        resolved = self.module.resolve(name)
        if isinstance(resolved, Trouble):
            if user is not None:
                self._seen.add(name)
                place = self.module.use(user, name)
                data: dict[str, Any] = dict(resolved.data)
                kind = resolved.kind
                if kind == "UndefinedName" and (outer := self._maker(name)):
                    kind, data = "Closure", {"step": self.node.name, "outer": outer}
                elif kind == "UndefinedName":
                    for_types = self.module.is_for_types(name)
                    close = "" if for_types else self.module.meant(name, local_names(user))
                    data = {"close": close, "for_types": for_types}
                elif kind == "LanguageWord" and (given := _default(user, name)):
                    data["hint"] = given
                self._report([finding(kind, place, name=name, **data)], user)
            return
        self._seen.add(name)
        for index in resolved or ():
            node = self.module.body[index]
            if isinstance(node, Import):
                self.imports.setdefault(index, set()).add(name)
            elif index not in self.whole:
                self.whole[index] = piece(self.module, index)
                self._todo.append((node, self.whole[index]))

    def _maker(self, name: str) -> str:
        """The function that makes the step, if the name is a variable of it: so defaults may read it."""
        if self.index is not None:
            return ""
        functions = [one for one in self.module.nodes if isinstance(one, Function) and one is not self.node]
        around = (one for one in functions if self.node in ast.walk(one))
        return next((one.name for one in around if name in local_names(one)), "")

    def _report(self, found: Sequence[Diagnostic], user: ast.stmt) -> None:
        """Add findings about a statement; outside of the function they also name the step that needs it."""
        if found and self.allowed is not None:
            found = [kept for one in found if (kept := self.allowed(one)) is not None]
        if not found:
            return
        related = (Related(Definition(self.code), f"needed by the step `{self.node.name}`"),)
        self.found += found if user is self.node else [one._replace(related=related) for one in found]

    def _check_name(self, own: int) -> None:
        name = self.node.name
        for index in sorted({*self.whole, *self.imports}):
            if index > own and self.module.touches[index].get(name):
                place = self.module.name_span(self.module.body[index])
                self.found.append(finding("NameTaken", place, name=name))

    def carried(self) -> Carried:
        """The collected pieces in source order."""
        order = [*self.added.values()]
        order += [
            self.whole[index]
            if index in self.whole
            else imported(self.module, index, frozenset(self.imports[index]))
            for index in sorted({*self.whole, *self.imports})
        ]
        if self.index is None:
            # A nested function is defined after the module is complete.
            order.append(self.own)
        given = self.code.co_varnames[: self.code.co_posonlyargcount]
        return Carried(
            _join(order),
            self.node.name,
            (3, max((one.python for one in order), default=OLDEST)),
            tuple(self.classes),
            frozenset(name for one in order for name in one.binds),
            given,
            self._lines,
        )

    def _lines(self) -> tuple[int, ...]:
        nodes = [self.module.body[index] for index in sorted({*self.whole, *self.imports})]
        nodes = [*(self.node for _ in self.added), *nodes]
        return tuple(first_line(node) for node in (nodes if self.index is not None else [*nodes, self.node]))


def _default(user: ast.stmt, name: str) -> str:
    """What to do instead of a field of a class whose default a name is part of; nothing for any other use."""
    if not isinstance(user, ast.ClassDef):
        return ""
    for one in user.body:
        match one:
            case ast.AnnAssign(ast.Name(field), value=ast.expr() as value) if name in names_in(value):
                given = f"{user.name}({field}=...)"
                return f"leave the default out of the class, and give it in the pipeline: `{given}`"
            case _:
                pass
    return ""


def _join(pieces: list[Piece]) -> str:
    """The texts with the blank lines that PEP 8 requires, instead of those in the file."""
    parts: list[str] = []
    before = ""
    for one in pieces:
        if before:
            wide = "definition" in (before, one.kind)
            parts.append("\n\n\n" if wide else "\n" if one.kind == before != "block" else "\n\n")
        parts.append(one.text)
        before = one.kind
    return "".join(parts) + "\n"
