"""The names that code reads from its module, according to its bytecode.

The instructions of a code object say it exactly: locals, comprehension variables, class bodies and
nested functions come out right, which no reading of the syntax tree does as simply.
"""

from __future__ import annotations
import __future__

import ast
import warnings
from opcode import opmap
from types import CodeType
from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple
from flowdsl.places.source import UNNAMED

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOAD_GLOBAL = opmap["LOAD_GLOBAL"]
_STORE_GLOBAL = opmap["STORE_GLOBAL"]
_DELETE_GLOBAL = opmap["DELETE_GLOBAL"]
_IMPORT_NAME = opmap["IMPORT_NAME"]
_LOAD_NAME = opmap["LOAD_NAME"]
_STORE_NAME = opmap["STORE_NAME"]
_STORE_SUBSCR = opmap["STORE_SUBSCR"]
_LOAD_FAST = opmap["LOAD_FAST"]
_STORE_FAST = opmap["STORE_FAST"]
_LOAD_CHECKED = opmap.get("LOAD_FAST_CHECK", -1)  # Python 3.12
_LOAD_IN_CLASS = opmap.get("LOAD_FROM_DICT_OR_GLOBALS", -1)  # Python 3.12
_EXTENDED_ARG = opmap["EXTENDED_ARG"]

_OPTIMIZED = 1  # inspect.CO_OPTIMIZED: code of a function, with fast locals
_ADDS = frozenset(("add", "append", "insert", "setdefault", "update"))


class Reads(NamedTuple):
    """What code uses of its module: names it reads, names it assigns by `global`, modules it imports."""

    names: tuple[str, ...]
    written: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


def scan(code: CodeType) -> Reads:
    """What a code object, with all nested ones, uses of the module, each name once."""
    names: dict[str, None] = {}
    written: dict[str, None] = {}
    imports: dict[str, None] = {}
    todo = [code]
    while todo:
        code = todo.pop()
        if code.co_names:
            raw = code.co_code
            ops, args = raw[::2], raw[1::2]
            if code.co_flags & _OPTIMIZED:
                _find(ops, args, _LOAD_GLOBAL, 1, code.co_names, names)
            else:
                _in_order(ops, args, code.co_names, names)
            if _LOAD_IN_CLASS >= 0:
                _find(ops, args, _LOAD_IN_CLASS, 0, code.co_names, names)
            _find(ops, args, _STORE_GLOBAL, 0, code.co_names, written)
            _find(ops, args, _DELETE_GLOBAL, 0, code.co_names, written)
            _find(ops, args, _IMPORT_NAME, 0, code.co_names, imports)
        todo += [constant for constant in code.co_consts if type(constant) is CodeType]
    # Names with an @ are not from the source: pytest adds them when it rewrites assertions.
    return Reads(tuple(name for name in names if name[0] != "@"), tuple(written), tuple(imports))


def all_names(code: CodeType) -> dict[str, None]:
    """The global variables and attributes that code uses, including nested code, in order."""
    names = dict.fromkeys(code.co_names)
    for one in code.co_consts:
        if type(one) is CodeType:
            names |= all_names(one)
    return names


def _find(
    ops: bytes, args: bytes, wanted: int, shift: int, names: tuple[str, ...], found: dict[str, None]
) -> None:
    at = ops.find(wanted)
    while at >= 0:
        found[names[_argument(ops, args, at) >> shift]] = None
        at = ops.find(wanted, at + 1)


def _in_order(ops: bytes, args: bytes, names: tuple[str, ...], found: dict[str, None]) -> None:
    """The body of a class or module: a name that it has assigned before is local."""
    own: set[str] = set()
    for at, op in enumerate(ops):
        if op == _STORE_NAME:
            own.add(names[_argument(ops, args, at)])
        elif op == _LOAD_NAME and (name := names[_argument(ops, args, at)]) not in own:
            found[name] = None
        elif op == _LOAD_GLOBAL:
            found[names[_argument(ops, args, at) >> 1]] = None


def _argument(ops: bytes, args: bytes, at: int) -> int:
    value, shift = args[at], 8
    while at and ops[at - 1] == _EXTENDED_ARG:
        at -= 1
        value |= args[at] << shift
        shift += 8
    return value


def may_be_unbound(code: CodeType) -> bool:
    """Whether a function may read a local variable before it is assigned.

    From 3.12 on the byte code says so; before, the order of the instructions is used. Variables that nested
    functions share are not examined.
    """
    if code.co_cellvars:
        return True
    raw = code.co_code
    if _LOAD_CHECKED >= 0:
        return _LOAD_CHECKED in raw[::2]
    bound = {*range(code.co_argcount + code.co_kwonlyargcount + _stars(code))}
    for op, number in zip(raw[::2], raw[1::2], strict=True):
        if op == _STORE_FAST:
            bound.add(number)
        elif op == _LOAD_FAST and number not in bound:
            return True
    return False


def _stars(code: CodeType) -> int:
    """The number of `*args` and `**kwargs` of a function: inspect.CO_VARARGS, inspect.CO_VARKEYWORDS."""
    return (code.co_flags & 4 != 0) + (code.co_flags & 8 != 0)


def keeps_something(code: CodeType) -> bool:
    """Whether code may add something to a list or dict."""
    return _STORE_SUBSCR in code.co_code[::2] or not _ADDS.isdisjoint(code.co_names)


def is_exact(code: CodeType) -> bool:
    """Whether a function's code reads the same names if annotations are not evaluated.

    Annotations of a nested function are evaluated by the outer code, unless the module has the
    `__future__` import that every script of a step has.
    """
    if code.co_flags & __future__.annotations.compiler_flag:
        return True
    todo = [code]
    while todo:
        for constant in todo.pop().co_consts:
            if type(constant) is CodeType:
                if constant.co_name not in UNNAMED:
                    return False
                todo.append(constant)
    return True


def scan_statement(node: ast.stmt, filename: str) -> Reads:
    """What a statement uses of its module when it is executed alone, without evaluating annotations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(
            ast.Module([node], []),
            filename,
            "exec",
            flags=__future__.annotations.compiler_flag,
            dont_inherit=True,
            optimize=0,
        )
    return scan(code)


def annotated_names(node: ast.stmt) -> Iterator[str]:
    """Names in annotations that may be evaluated when the statement is executed.

    Those of a class (pydantic evaluates them) and of a decorated function (so may the decorator).
    """
    match node:
        case ast.ClassDef(body=body):
            for inner in body:
                yield from annotated_names(inner)
        case ast.AnnAssign(annotation=annotation):
            yield from _in_annotation(annotation)
        case ast.FunctionDef(decorator_list=[_, *_]) | ast.AsyncFunctionDef(decorator_list=[_, *_]):
            given = node.args
            stars = [star for star in (given.vararg, given.kwarg) if star is not None]
            for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, *stars):
                if argument.annotation is not None:
                    yield from _in_annotation(argument.annotation)
            if node.returns is not None:
                yield from _in_annotation(node.returns)
        case _:
            return


def _in_annotation(node: ast.expr) -> Iterator[str]:
    """The names in an annotation, also in strings, except those of a `Literal`."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Constant(value=str(text)):
            try:
                yield from _in_annotation(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal")):
            yield from _in_annotation(node.value)
        case _:
            for inner in ast.iter_child_nodes(node):
                if isinstance(inner, ast.expr):
                    yield from _in_annotation(inner)
