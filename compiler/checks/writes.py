"""The paths that calls write to: those of Python's own ways to write, and of libraries that are well known."""

from __future__ import annotations

import ast

_WRITES = frozenset(
    ("write_text", "write_bytes", "touch", "unlink", "rmdir", "symlink_to", "hardlink_to", "rename")
)
_TO = frozenset(("savefig", "to_csv", "to_excel", "to_feather", "to_json", "to_parquet", "to_pickle"))
_SAVE = frozenset(("dump", "imwrite", "save", "savetxt", "savez"))
_LIBRARIES = frozenset(("cv2", "joblib", "np", "numpy", "torch"))
_COPIES = frozenset(("copy", "copy2", "copyfile", "copytree", "move"))
_REMOVES = frozenset(("remove", "rmtree", "unlink"))


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
        case ast.Call(ast.Attribute(_, verb), [path, *_]) if verb in _TO:
            return path
        case ast.Call(ast.Attribute(ast.Name(of), verb), [_, path, *_]) if of in _LIBRARIES and verb in _SAVE:
            return path
        case _:
            return None


def _is_writing(mode: ast.expr) -> bool:
    return isinstance(mode, ast.Constant) and isinstance(mode.value, str) and bool({*"wax+"} & {*mode.value})
