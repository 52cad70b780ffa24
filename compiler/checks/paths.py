"""Paths in the function of a step: what an expression begins with, its text, and which calls write to a path."""

from __future__ import annotations

import ast
import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowdsl.compiler.checks.variables import Variables

_BESIDE = frozenset(
    ("with_suffix", "with_name", "with_stem", "absolute", "resolve", "expanduser", "as_posix")
)
_MADE = frozenset(("str", "Path", "PurePath", "fspath"))

_WRITES = frozenset(
    ("write_text", "write_bytes", "touch", "unlink", "rmdir", "symlink_to", "hardlink_to", "rename")
)
TO_FILES = frozenset(("savefig", "to_csv", "to_excel", "to_feather", "to_json", "to_parquet", "to_pickle"))
"""Methods that write their object to the path that is their first argument."""
SAVE = frozenset(("dump", "imwrite", "save", "savetxt", "savez"))
"""Functions of libraries that write their first argument to the path that is their second."""
_LIBRARIES = frozenset(("cv2", "joblib", "np", "numpy", "torch"))
_COPIES = frozenset(("copy", "copy2", "copyfile", "copytree", "move"))
_REMOVES = frozenset(("remove", "rmtree", "unlink"))


def root(node: ast.expr, variables: Variables) -> ast.expr:
    """The start of a path: a variable, a constant, or another expression."""
    seen: set[str] = set()
    while True:
        match node:
            case ast.BinOp(left, ast.Div()):
                node = left
            case ast.Call() if parts := variables.joined(node):
                node = parts[0]
            case ast.Call(ast.Attribute(of, verb)) if verb in _BESIDE or verb == "joinpath":
                node = of
            case ast.Call(ast.Name(verb) | ast.Attribute(attr=verb), [first, *_], []) if verb in _MADE:
                node = first
            case ast.JoinedStr([ast.FormattedValue(value), ast.Constant(str() as rest), *_]) if (
                rest[:1] == "/"
            ):
                node = value
            case ast.Name(name) if name in variables.once and name not in seen:
                seen.add(name)
                node = variables.once[name]
            case _:
                return node


def text_of(node: ast.expr, variables: Variables, depth: int = 20) -> str:
    """The path that an expression denotes, if all of it is literal; otherwise nothing."""
    match node:
        case ast.Constant(str() as found):
            return found
        case ast.BinOp(left, ast.Div(), right):
            return _joined([left, right], variables, depth - 1)
        case ast.Call() if parts := variables.joined(node):
            return _joined(parts, variables, depth - 1)
        case ast.Call(ast.Attribute(of, "joinpath"), several, []):
            return _joined([of, *several], variables, depth - 1)
        case ast.Call(ast.Name(verb) | ast.Attribute(attr=verb), [first], []) if verb in _MADE:
            return text_of(first, variables, depth - 1)
        case ast.Name(name) if name in variables.once and depth:
            return text_of(variables.once[name], variables, depth - 1)
        case _:
            return ""


def _joined(several: list[ast.expr], variables: Variables, depth: int) -> str:
    """The path that literal paths are together; nothing if one is not literal."""
    found = [text_of(one, variables, depth) for one in several]
    return posixpath.join(*found) if all(found) else ""


def written_to(node: ast.AST) -> ast.expr | None:
    """The path that a call writes to; nothing for any other node."""
    match node:
        case ast.Call(ast.Name("open"), [path, mode, *_]) if _is_writing(mode):
            return path
        case ast.Call(ast.Attribute(path, "open"), [mode, *_]) if _is_writing(mode):
            return path
        case ast.Call(ast.Attribute(path, verb)) if verb in _WRITES:
            return path
        case ast.Call(ast.Attribute(path, "mkdir"), _, keywords):
            return None if any(one.arg == "exist_ok" for one in keywords) else path
        case ast.Call(ast.Attribute(ast.Name("shutil"), verb), [_, path, *_]) if verb in _COPIES:
            return path
        case ast.Call(ast.Attribute(ast.Name("os" | "shutil"), verb), [path, *_]) if verb in _REMOVES:
            return path
        case ast.Call(ast.Attribute(_, verb), [path, *_]) if verb in TO_FILES:
            return path
        case ast.Call(ast.Attribute(ast.Name(of), verb), [_, path, *_]) if of in _LIBRARIES and verb in SAVE:
            return path
        case _:
            return None


def _is_writing(mode: ast.expr) -> bool:
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and bool({*"wax+"} & {*mode.value})
