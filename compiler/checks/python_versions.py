"""What a step uses that came with a newer Python than its image may have: syntax, modules, and what is in them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.carry.text import OLDEST, newer_fstrings
from flowdsl.compiler.carry.tree import first_line
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.carry.carry import ModuleSource
    from flowdsl.compiler.checks.body import Body
    from flowdsl.compiler.checks.left_behind import Written
    from flowdsl.places.place import Span

    _Placed = ast.expr | ast.stmt | ast.arg

# The versions 3.n that introduced parts of the syntax, by node, and modules.
_SYNTAX = {
    "NamedExpr": ("`:=`", 8),
    "Match": ("`match`", 10),
    "TryStar": ("`except*`", 11),
    "TypeAlias": ("`type`", 12),
    "TemplateStr": ("a t-string", 14),
}
_MODULES = {"graphlib": 9, "zoneinfo": 9, "tomllib": 11, "annotationlib": 14, "compression": 14}
# The same for names in older modules. Source: "New in version" of Python's documentation.
_NAMES = {
    "asyncio": {"to_thread": 9, "Runner": 11, "TaskGroup": 11, "timeout": 11},
    "contextlib": {"aclosing": 10, "chdir": 11},
    "copy": {"replace": 13},
    "dataclasses": {"KW_ONLY": 10},
    "datetime": {"UTC": 11},
    "enum": {"StrEnum": 11, "verify": 11},
    "functools": {"cached_property": 8, "singledispatchmethod": 8, "cache": 9, "Placeholder": 14},
    "hashlib": {"file_digest": 11},
    "itertools": {"pairwise": 10, "batched": 12},
    "math": {
        "dist": 8,
        "isqrt": 8,
        "perm": 8,
        "prod": 8,
        "lcm": 9,
        "nextafter": 9,
        "ulp": 9,
        "cbrt": 11,
        "exp2": 11,
        "sumprod": 12,
        "fma": 13,
    },
    "os": {"process_cpu_count": 13},
    "random": {"randbytes": 9, "binomialvariate": 12},
    "shlex": {"join": 8},
    "statistics": {
        "fmean": 8,
        "geometric_mean": 8,
        "NormalDist": 8,
        "correlation": 10,
        "linear_regression": 10,
        "kde": 13,
    },
    "typing": {
        **dict.fromkeys(("Final", "Literal", "Protocol", "TypedDict", "final", "runtime_checkable"), 8),
        "Annotated": 9,
        **dict.fromkeys(("Concatenate", "ParamSpec", "TypeAlias", "TypeGuard"), 10),
        **dict.fromkeys(("LiteralString", "Never", "NotRequired", "Required", "Self", "Unpack"), 11),
        **dict.fromkeys(("assert_never", "assert_type", "reveal_type"), 11),
        "override": 12,
        **dict.fromkeys(("ReadOnly", "TypeIs"), 13),
    },
    "uuid": {"uuid6": 14, "uuid7": 14, "uuid8": 14},
    "warnings": {"deprecated": 13},
}
# The same for methods, by the class of the object.
_METHODS: dict[str, dict[str, int]] = {
    "Path": {
        **dict.fromkeys(("is_relative_to", "readlink", "with_stem"), 9),
        "hardlink_to": 10,
        **dict.fromkeys(("is_junction", "walk", "with_segments"), 12),
        "full_match": 13,
        **dict.fromkeys(("copy", "copy_into", "move", "move_into"), 14),
    },
    "str": dict.fromkeys(("removeprefix", "removesuffix"), 9),
}
_OF_DATACLASSES = frozenset(("slots", "kw_only", "match_args"))
"""Arguments of `dataclass` since 3.10."""
_STRICT = {"zip": 10, "map": 14}
"""Builtins with an argument `strict`."""
_SEEN = sorted({"strict", *_MODULES, *_OF_DATACLASSES}.union(*_NAMES.values(), *_METHODS.values()))
_WORDS = regex(rf"\b(?:{'|'.join(_SEEN)})\b")
NEWEST = 14
"""The newest Python 3.n that is known here."""


class Newer(NamedTuple):
    """A feature of Python since 3.`since`; `own`: it is in the function of the step itself."""

    place: Span | None
    what: str
    since: int
    own: bool


def newer(written: Written, names: set[str]) -> Iterator[Newer]:
    """Features newer than Python 3.7 in the script of a step; `names`: the modules that it imports."""
    body, text = written.body, written.text
    module = body.module
    if written.needs > OLDEST:
        found = [*_syntax(body, written)]
        yield from found
        if all(one.since < written.needs for one in found):
            yield Newer(module.name_span(body.node), "its syntax", written.needs, own=True)
    if "version_info" in text or not _WORDS.search(text):
        return  # it may check the version
    for node, what, since in (*_modules(body, names), *_names(body, text)):
        yield Newer(module.span(node), what, since, own=True)


def _syntax(body: Body, written: Written) -> Iterator[Newer]:
    lines = frozenset(written.lines())
    carried = (one for one in body.module.body if first_line(one) in lines and one is not body.node)
    for statement in (body.node, *carried):
        for node, what, since in _of_statement(statement, body.module):
            yield Newer(body.module.span(node), what, since, statement is body.node)


def _of_statement(statement: ast.stmt, module: ModuleSource) -> Iterator[tuple[_Placed, str, int]]:
    nested = _fstrings(statement, module)
    for node in ast.walk(statement):
        match node:
            case ast.ExceptHandler(type=ast.Tuple(elts=[first, *_]) as kinds):
                # Parentheses are part of a tuple, which therefore starts before its first element.
                if (kinds.lineno, kinds.col_offset) == (first.lineno, first.col_offset):
                    yield kinds, "`except` with several classes and no brackets", 14
            case ast.arguments(posonlyargs=[first, *_]):
                yield first, "`/` among parameters", 8
            case ast.JoinedStr():
                yield from ((node, what, 12) for at, what in nested.items() if _holds(node, at))
            case _:
                parameters: list[Any] = getattr(node, "type_params", [])  # Python 3.12
                if parameters:
                    yield parameters[0], "a parameter for a type", 12
                for one in parameters:
                    if getattr(one, "default_value", None) is not None:
                        yield one, "a default of a parameter for a type", 13
                known = _SYNTAX.get(type(node).__name__)
                if known is not None and isinstance(node, (ast.expr, ast.stmt)):
                    yield node, *known


def _fstrings(statement: ast.stmt, module: ModuleSource) -> dict[tuple[int, int], str]:
    """The f-strings in a statement that older versions cannot parse, by line and column in bytes."""
    first, last = first_line(statement), statement.end_lineno or statement.lineno
    lines = module.file.lines[first - 1 : last]
    found = newer_fstrings("\n".join(["if True:", *lines]))  # nested code is indented
    return {
        (line + first - 2, len(lines[line - 2][:column].encode())): what
        for (line, column), what in found.items()
    }


def _holds(node: ast.expr, at: tuple[int, int]) -> bool:
    end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return (node.lineno, node.col_offset) <= at < end


def _modules(body: Body, names: set[str]) -> Iterator[tuple[ast.stmt, str, int]]:
    for node in (*body.node.body, *body.module.body):  # not in `if`, which may check the version
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for top in sorted(first_names(node, body.module) & names & _MODULES.keys()):
                yield node, f"the module `{top}`", _MODULES[top]


def _names(body: Body, text: str) -> Iterator[tuple[ast.expr | ast.stmt, str, int]]:
    """Uses of names of older standard modules in a step; `text` is its script.

    An import in the script is on one line, with the names that are needed at run time.
    """
    for node in (*body.node.body, *body.module.body):
        match node:
            case ast.ImportFrom(str(source), names, 0) if source in _NAMES:
                for name in [alias.name for alias in names if alias.name in _NAMES[source]]:
                    if re.search(rf"^\s*from {source} import [^\n]*\b{name}\b", text, re.MULTILINE):
                        yield node, f"`{source}.{name}`", _NAMES[source][name]
            case ast.ClassDef(name, decorator_list=decorators) if f"class {name}" in text:
                for one in decorators:
                    if new := _of_dataclass(one):
                        yield one, f"`{new}` of a dataclass", 10
            case _:
                pass
    if "hasattr" in text or "AttributeError" in text:
        return  # it may check for existence
    for part in ast.walk(body.node):
        match part:
            case ast.Call(ast.Name("zip" | "map" as name), keywords=keywords):
                if any(one.arg == "strict" for one in keywords) and name not in body.module.namespace:
                    yield part, f"`strict` of `{name}`", _STRICT[name]
            case ast.Attribute(owner, attr):
                source = _module(owner, body)
                since = _NAMES.get(source, {}).get(attr)
                if since is None:
                    source = body.evident.of(owner) or ""
                    since = _METHODS.get(source, {}).get(attr)
                if since is not None and source != "typing":  # its names are only used in annotations
                    yield part, f"`{source}.{attr}`", since
            case _:
                pass


def _module(owner: ast.expr, body: Body) -> str:
    value = body.module.namespace.get(owner.id) if isinstance(owner, ast.Name) else None
    return getattr(value, "__name__", "")


def _of_dataclass(decorator: ast.expr) -> str | None:
    """The first argument of `dataclass(...)` that older versions lack."""
    match decorator:
        case ast.Call(ast.Name("dataclass") | ast.Attribute(attr="dataclass"), [], keywords):
            return next((each.arg for each in keywords if each.arg in _OF_DATACLASSES), None)
        case _:
            return None


def first_names(node: ast.Import | ast.ImportFrom, module: ModuleSource) -> set[str]:
    """The top-level modules of an import."""
    if isinstance(node, ast.ImportFrom):
        return {module.origin(node).partition(".")[0]} - {""}
    return {alias.name.partition(".")[0] for alias in node.names}
