"""One statement of a script: its text without our decorators, its dependencies, and what is wrong with it."""

from __future__ import annotations

import ast
import re
import sys
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.carry import text as carried_text
from flowdsl.compiler.carry.environment import environment_reads
from flowdsl.compiler.carry.module import IN_THE_PIPELINE, Piece, is_ours
from flowdsl.compiler.carry.nondeterministic import anew
from flowdsl.compiler.carry.scan import Reads, annotated_names, is_exact, may_be_unbound, scan, scan_statement
from flowdsl.compiler.carry.tree import (
    Assignment,
    Definition,
    Function,
    Import,
    bound_name,
    calls,
    defaults,
    first_line,
    functions,
    names_in,
    root,
    without,
    written_origin,
)
from flowdsl.compiler.carry.unbound import unbound
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.regex import regex
from flowdsl.places.place import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.carry.module import ModuleSource
    from flowdsl.diagnostic import Finding
    from flowdsl.places.place import Place

_READS_FILES = regex(r"\b(?:open|read_\w+)\s*\(")
_HEADER = regex(r"#!|#.*coding[:=]")
_RELATIVE = regex(r"from[\s\\]*\.[\w\s\\.]*?\bimport\b")
_AFTER_DECORATOR = regex(r"\s*(?:@|def\b|async\b|class\b|#)")


def finding(kind: str, place: Place | None, **data: Any) -> Diagnostic:
    """A finding about carried code, by the name of its class."""
    from flowdsl.compiler.findings import carry as findings

    made: Finding = getattr(findings, kind)(**data)
    return Diagnostic(made, place)


def piece(module: ModuleSource, index: int) -> Piece:
    """A top-level statement as a whole."""
    known = module.pieces.get(index)
    if known is None:
        known = module.pieces[index] = _make(module, module.body[index], index)
    return known


def inner_function(module: ModuleSource, node: Function) -> Piece:
    """A nested function, with its own indentation under `if True:`.

    Removing the indentation would change multi-line strings.
    """
    known = module.pieces.get(node)
    if known is None:
        known = module.pieces[node] = _make(module, node, None)
    return known


def imported(module: ModuleSource, index: int, names: frozenset[str]) -> Piece:
    """An import statement, reduced to some of its names."""
    known = module.pieces.get((index, names))
    if known is None:
        known = module.pieces[index, names] = _import(module, index, names)
    return known


def _import(module: ModuleSource, index: int, names: frozenset[str]) -> Piece:
    node = module.body[index]
    assert isinstance(node, Import)
    star = node.names[0].name == "*"
    wanted = [ast.alias(name) for name in sorted(names)] if star else []
    wanted += [alias for alias in node.names if bound_name(alias, node) in names]
    found, binds = tuple(_foreign(module, node, wanted)), tuple(sorted(names))
    if len(wanted) == len(node.names) and not star:
        lines = _lines(module, node, index)
        text = "\n".join(lines.values())
        found += tuple(_unsafe(module, text, list(lines)))
        text = _in_full(module, text)
        return Piece("import", carried_text.keep_dollars(text)[0], (), binds=binds, found=found)
    shown = ", ".join(f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in wanted)
    origin = f"from {module.origin(node)} " if isinstance(node, ast.ImportFrom) else ""
    return Piece("import", f"{origin}import {shown}", (), binds=binds, found=found)


def _make(module: ModuleSource, node: ast.stmt, index: int | None) -> Piece:
    inner = list(functions(node))
    decorators = [one for function in inner for one in function.decorator_list if module.makes_step(one)]
    # An input is always passed, so a default that is an object of flowdsl is never used in the pod.
    values = [one for function in inner for one in defaults(function) if _is_word(module, one)]
    lines = _lines(module, node, index, decorators, values)
    if index is None:
        lines = {0: "if True:", **lines}
    text = "\n".join(lines.values())
    reads = _reads(module, node, decorators, values)
    left = isinstance(node, Function) and len(decorators) < len(node.decorator_list)
    hints = tuple(dict.fromkeys(annotated_names(node))) if left or isinstance(node, ast.ClassDef) else ()
    kind = "definition" if isinstance(node, Definition) else "block" if hasattr(node, "body") else "line"
    found = list(_judge(module, node, text, reads))
    unsafe = list(_unsafe(module, text, list(lines)))
    text = _in_full(module, text)
    if "$" in text and not unsafe:
        text, offset = carried_text.keep_dollars(text)
        if offset is not None:
            unsafe.append(finding("DollarText", _at(module, text, list(lines), offset)))
    binds = tuple(module.touches[index]) if index is not None else (inner[0].name,)
    python = carried_text.lowest_python(text)
    return Piece(kind, text, reads.names, hints, binds, python, (*found, *unsafe))


def _in_full(module: ModuleSource, text: str) -> str:
    """Statements with absolute module names: a script is in no package, and has no relative imports."""
    if not _RELATIVE.search(text):
        return text
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    relative = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom) and node.level]
    for node in sorted(relative, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        at = starts[node.lineno - 1] + len(_part(lines[node.lineno - 1], 0, node.col_offset))
        found, full = _RELATIVE.match(text, at), module.origin(node)
        assert found is not None, "a relative import begins with `from` and dots"
        if not full.startswith("."):
            text = f"{text[:at]}from {full} import{text[found.end() :]}"
    return text


def _is_word(module: ModuleSource, value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return False
    return any(is_ours(module.namespace.get(name)) for name in names_in(value))


def _reads(module: ModuleSource, node: ast.stmt, decorators: list[ast.expr], values: list[ast.expr]) -> Reads:
    """What a statement needs without some decorators and default values.

    Existing byte code is used if it is equivalent.
    """
    if isinstance(node, Assignment) and isinstance(node.value, ast.Constant):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if all(isinstance(target, ast.Name) for target in targets):
            return Reads(())
    if isinstance(node, ast.FunctionDef) and len(decorators) == len(node.decorator_list):
        code = module.code_of(node)
        plain = all(isinstance(one, ast.Constant) or one in values for one in defaults(node))
        if code and plain and is_exact(code):
            return scan(code)
    return scan_statement(without(node, decorators, values), module.file.filename)


def _lines(
    module: ModuleSource,
    node: ast.stmt,
    index: int | None,
    decorators: list[ast.expr] | None = None,
    values: list[ast.expr] | None = None,
) -> dict[int, str]:
    """The lines of a statement by number, without some decorators and with `...` for some default values."""
    first, last = first_line(node), node.end_lineno or node.lineno
    source, body = module.file.lines, module.body
    before = (body[index - 1].end_lineno or 0) if index else 0
    after = first_line(body[index + 1]) if index is not None and index + 1 < len(body) else last + 1
    if before == first or after == last:
        shared = source[first - 1 : last]
        shared[-1] = _part(shared[-1], 0, node.end_col_offset)
        shared[0] = _part(shared[0], node.col_offset)
        return dict(enumerate(shared, first))
    if not isinstance(node, Import):
        while first - 1 > before and source[first - 2].lstrip().startswith("#"):
            if first <= 3 and _HEADER.match(source[first - 2]):
                break
            first -= 1
    lines = {number: source[number - 1] for number in range(first, last + 1)}
    for value in sorted(values or (), key=lambda value: (value.lineno, value.col_offset), reverse=True):
        end = value.end_lineno or value.lineno
        rest = _part(lines[end], value.end_col_offset or 0)
        lines[value.lineno] = _part(lines[value.lineno], 0, value.col_offset) + "..." + rest
        for number in range(value.lineno + 1, end + 1):
            del lines[number]
    for decorator in decorators or ():
        start, end = decorator.lineno, decorator.end_lineno or decorator.lineno
        while not source[start - 1].lstrip().startswith("@"):
            start -= 1
        while not _AFTER_DECORATOR.match(source[end]):
            end += 1
        for number in range(start, end + 1):
            del lines[number]
    return lines


def _part(line: str, start: int, end: int | None = None) -> str:
    """A part of a line by UTF-8 offsets, as in syntax trees."""
    return line[start:end] if line.isascii() else line.encode()[start:end].decode()


def _foreign(module: ModuleSource, node: Import, aliases: list[ast.alias]) -> Iterator[Diagnostic]:
    """Imports of flowdsl and of the user's own modules; one finding for the names of a module."""
    told: set[str] = set()
    for alias in aliases:
        names, origin, full = [alias.name], "", ""
        if isinstance(node, ast.ImportFrom):
            origin = written_origin(node)
            full = module.origin(node)
            names = [origin, *({f"{origin}.{alias.name}"} & sys.modules.keys())]
            if not node.module:  # for `from . import x`, which usually names a module
                names = [f"{origin}{alias.name}"]
                full = names[0] if full.startswith(".") else f"{full}.{alias.name}"
        place = module.span(alias if len(node.names) > 1 and hasattr(alias, "lineno") else node)
        if names[0].partition(".")[0] == "flowdsl":
            name = alias.asname or alias.name
            yield finding("LanguageWord", place, name=name, what="a word of flowdsl", hint=IN_THE_PIPELINE)
            continue
        for name in names:
            if (path := module.own_module(name)) is not None:
                if name not in told:
                    where = module.span(node) if name == origin else place
                    called_by = full if name.startswith(".") else name
                    yield finding("OwnModule", where, module=name, path=path, full=called_by)
                told.add(name)
                break


def _judge(module: ModuleSource, node: ast.stmt, text: str, reads: Reads) -> Iterator[Diagnostic]:
    """Findings about what a statement does."""
    for name in reads.written:
        yield from _global_statement(module, node, name)
    own = [
        name for name in reads.imports if name.startswith("flowdsl") or module.own_module(name) is not None
    ]
    if own or (reads.imports and re.search(r"^\s*from\s+\.", text, re.MULTILINE)):
        for inner in ast.walk(node):
            if isinstance(inner, Import):
                yield from _foreign(module, inner, inner.names)
    if not isinstance(node, Function) and _READS_FILES.search(text):
        for call in calls(node):
            name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
            if name == "open" or name.startswith("read_"):
                yield finding("FileRead", module.span(call), call=f"{name}(...)")
    if not isinstance(node, Function):
        for call in anew(calls(node), module.namespace, text):
            yield finding("ComputedAnew", module.span(call), call=f"{ast.unparse(call.func)}(...)")
    if not isinstance(node, Function) and "env" in text:
        for read, variable in environment_reads(node, module.namespace):
            yield finding("EnvironmentRead", module.span(read), call=ast.unparse(read), variable=variable)
    for function in functions(node):
        code = module.code_of(function) if isinstance(function, ast.FunctionDef) else None
        for read, line in unbound(function) if code is None or may_be_unbound(code) else ():
            data = {"name": read.id, "line": line, "of_module": read.id in module.binders}
            yield finding("Unbound", module.span(read), **data)
    if "__file__" in reads.names:
        yield finding("OwnFile", module.use(node, "__file__"))
    if isinstance(node, Assignment):
        yield from _changed(module, node)


def _global_statement(module: ModuleSource, node: ast.stmt, name: str) -> Iterator[Diagnostic]:
    inner = [one for one in ast.walk(node) if isinstance(one, Function)]
    for function in reversed(inner):
        for statement in ast.walk(function):
            if isinstance(statement, ast.Global) and name in statement.names:
                yield finding("GlobalStatement", module.span(statement), function=function.name, name=name)
                return


def _changed(module: ModuleSource, node: ast.Assign | ast.AnnAssign) -> Iterator[Diagnostic]:
    """A constant whose current value differs from its literal."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    if node.value is None or any(len(module.binders.get(name, ())) != 1 for name in names):
        return
    if not module.registries.isdisjoint(names):
        return
    try:
        written = ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return
    for name in names:
        now = module.namespace.get(name)
        if type(now) is not type(written) or not _equal(now, written):
            import reprlib

            place = next(_changes(module, name), None) or module.span(node)
            yield finding("ChangedConstant", place, name=name, line=node.lineno, value=reprlib.repr(now))


def _equal(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except Exception:
        return False


def _changes(module: ModuleSource, name: str) -> Iterator[Span]:
    """The places where a variable is probably modified: in a function, or by a function that gets it."""
    for node in module.nodes:
        match node:
            case ast.Global(names=names) if name in names:
                yield module.span(node)
            case ast.Call(args=[*given]) if any(
                isinstance(one, ast.Name) and one.id == name for one in given
            ):
                yield module.span(node)
            case ast.Call(func=ast.Attribute() as called) if root(called) == name:
                yield module.span(node)
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                if any(isinstance(one, ast.Subscript) and root(one) == name for one in targets):
                    yield module.span(node)
            case ast.AugAssign(target=ast.Subscript() as target) if root(target) == name:
                yield module.span(node)
            case _:
                pass


def _unsafe(module: ModuleSource, text: str, numbers: list[int]) -> Iterator[Diagnostic]:
    """Text that would be changed on the way to the pod."""
    for offset, character in carried_text.control_characters(text):
        yield finding("ControlCharacter", _at(module, text, numbers, offset), character=character)
    if "{{" in text:
        for tag in carried_text.argo_tags(text):
            yield finding("ArgoTag", _at(module, text, numbers, tag.offset, 2), tag=tag.text)


def _at(module: ModuleSource, text: str, numbers: list[int], offset: int, length: int = 1) -> Span:
    before = text[:offset].split("\n")
    line, column = numbers[len(before) - 1], len(before[-1]) + 1
    return Span(module.file.filename, line, column, line, column + length)
