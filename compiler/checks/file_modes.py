"""Files that are used in a way that the mode they were opened with does not allow."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.checks.unsupported import shown
from flowdsl.compiler.findings.bodies import Impossible
from flowdsl.diagnostic import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.checks.body import Body

_WRITES = frozenset(("write", "writelines", "truncate"))
_READS = frozenset(("read", "readline", "readlines"))
_BYTES = frozenset(("pickle", "tomllib"))
_TEXT = frozenset(("csv", "json"))
_DUMPS = {"dump": 1, "writer": 0, "DictWriter": 0}
_LOADS = {"load": 0, "reader": 0, "DictReader": 0}


def opened(body: Body) -> Iterator[Diagnostic]:
    """Writes to files opened for reading, reads of files opened for writing, and texts as bytes or vice versa."""
    step = body.step
    if "open" not in step.code.co_names or "open" in body.module.namespace or step.plain is not step.function:
        return
    variables, times = body.variables, body.variables.times
    modes = {
        name: mode
        for one in (*variables.of(ast.With), *variables.of(ast.Assign))
        for name, mode in _modes(one)
        if times[name] == 1
    }
    for one in variables.sure if modes else ():
        if isinstance(one, ast.Call) and (fault := _fault(one, modes)) is not None:
            yield Diagnostic(Impossible(step.name, shown(one), *fault), body.module.span(one))


def _modes(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The variables that a statement binds to open files, and their modes."""
    made: list[tuple[ast.expr | None, ast.expr]] = []
    if isinstance(node, ast.With):
        made = [(item.optional_vars, item.context_expr) for item in node.items]
    elif isinstance(node, ast.Assign):
        made = [(target, node.value) for target in node.targets]
    for target, value in made:
        if not isinstance(target, ast.Name) or not isinstance(value, ast.Call):
            continue
        match value:
            case ast.Call(ast.Name("open"), [_, *rest], keywords):
                pass
            case ast.Call(
                ast.Attribute(ast.Call(ast.Name("Path")) | ast.BinOp(_, ast.Div()), "open"), rest, keywords
            ):
                pass
            case _:
                continue
        given = [*rest[:1], *(one.value for one in keywords if one.arg == "mode")]
        if any(one.arg is None for one in keywords) or any(isinstance(one, ast.Starred) for one in rest):
            continue
        if not given:
            yield target.id, "r"
        elif isinstance(given[0], ast.Constant) and isinstance(given[0].value, str):
            yield target.id, given[0].value


def _fault(node: ast.Call, modes: dict[str, str]) -> tuple[str, str, str] | None:
    """Why a call fails, the error that it raises, and what to write instead."""
    match node:
        case ast.Call(ast.Attribute(ast.Name(name), verb)) if name in modes and verb in _WRITES | _READS:
            return _against(modes[name], verb in _WRITES) or _of_kind(modes[name], verb, node.args)
        case ast.Call(ast.Attribute(ast.Name(source), verb), items) if source in _BYTES | _TEXT:
            at = _DUMPS.get(verb, _LOADS.get(verb))
            file = items[at] if at is not None and len(items) > at else None
            mode = modes.get(file.id) if isinstance(file, ast.Name) else None
            if mode is None:
                return None
            return _against(mode, verb in _DUMPS) or _of_library(mode, source, verb)
        case ast.Call(ast.Name("print"), _, keywords):
            for one in keywords:
                if one.arg == "file" and isinstance(one.value, ast.Name) and one.value.id in modes:
                    return _against(modes[one.value.id], writes=True)
            return None
        case _:
            return None


def _against(mode: str, writes: bool) -> tuple[str, str, str] | None:
    """Why a file with this mode cannot be written, or read."""
    if "+" in mode or writes == bool({*"wax"} & {*mode}):
        return None
    needed = f"{'w' if writes else 'r'}{'b' if 'b' in mode else ''}"
    why = f"the file is opened for {'reading' if writes else 'writing'}"
    return why, "io.UnsupportedOperation", f'open it with mode "{needed}"'


def _of_kind(mode: str, verb: str, items: list[ast.expr]) -> tuple[str, str, str] | None:
    """Why a text cannot be written as bytes, or vice versa."""
    if verb != "write" or len(items) != 1:
        return None
    is_text = isinstance(items[0], ast.JoinedStr) or (
        isinstance(items[0], ast.Constant) and isinstance(items[0].value, str)
    )
    is_bytes = isinstance(items[0], ast.Constant) and isinstance(items[0].value, bytes)
    if is_text and "b" in mode:
        return "the file is opened for bytes, and this is a str", "TypeError", 'open it without "b"'
    if is_bytes and "b" not in mode:
        return "the file is opened for text, and this is bytes", "TypeError", f'open it with mode "{mode}b"'
    return None


def _of_library(mode: str, source: str, verb: str) -> tuple[str, str, str] | None:
    """Why a library cannot use a text file, or a binary one."""
    if source in _BYTES and "b" not in mode:
        return f"`{source}` takes a file of bytes", "TypeError", f'open it with mode "{mode}b"'
    if (source, verb) in (("json", "dump"), ("csv", "reader"), ("csv", "DictReader")) and "b" in mode:
        error = "TypeError" if source == "json" else "csv.Error"
        return f"`{source}` takes a file of text", error, 'open it without "b"'
    return None
