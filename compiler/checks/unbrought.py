"""Files that a step reads by a name relative to the folder it begins in, and that nothing has brought there."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from flowdsl.compiler.carry.tree import Function
from flowdsl.compiler.checks.left_behind import BRINGS
from flowdsl.compiler.checks.read_only import PERHAPS, written_to
from flowdsl.compiler.checks.rooted import Rooted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.carry.module import ModuleSource

_OF_THE_IMAGE = frozenset(
    (
        *(
            "argo",
            "bin",
            "boot",
            "dev",
            "etc",
            "flowdsl",
            "home",
            "lib",
            "lib64",
            "media",
            "mnt",
            "opt",
            "proc",
        ),
        *("root", "run", "sbin", "srv", "sys", "tmp", "usr", "var"),
    )
)
"""The folders at the top of an image of Python, in which its programs begin."""


def read_by_name(node: ast.AST) -> str:
    """The name of the file that a call reads, where it is written down; nothing for any other node."""
    match node:
        case ast.Call(ast.Name("open"), [ast.Constant(str() as name)]):
            return name
        case ast.Call(ast.Name("open"), [ast.Constant(str() as name), ast.Constant("r" | "rb" | "rt")]):
            return name
        case ast.Call(
            ast.Attribute(
                ast.Call(ast.Name("Path") | ast.Attribute(attr="Path"), [ast.Constant(str() as name)]),
                "read_text" | "read_bytes",
            )
        ):
            return name
        case ast.Call(ast.Attribute(attr=attr), [ast.Constant(str() as name), *_]) if attr[:5] == "read_":
            return name
        case _:
            return ""


def unbrought(body: Function, module: ModuleSource, text: str) -> Iterator[tuple[ast.Call, str]]:
    """The reads that surely happen, and the names; `text` is the script of the step, whose image is that of Python."""
    if ("open(" not in text and "read_" not in text) or BRINGS.search(text):
        return
    todo: list[ast.AST] = [one for one in reversed(body.body) if not isinstance(one, PERHAPS)]
    found: list[tuple[ast.Call, str]] = []
    while todo:
        node = todo.pop()
        if isinstance(node, ast.With) and any("suppress" in ast.unparse(each) for each in node.items):
            continue
        if isinstance(node, ast.Call) and _is_alone(name := read_by_name(node), module):
            found.append((node, name))
        todo += reversed([each for each in ast.iter_child_nodes(node) if not isinstance(each, PERHAPS)])
    if found and not _writes_elsewhere(text):
        yield from found


def _is_alone(name: str, module: ModuleSource) -> bool:
    """Whether a name is that of a file of the pod, and stands nowhere else in the file of the pipeline."""
    top = name.partition("/")[0]
    if not name or name[:1] in "/~." or "://" in name or top in _OF_THE_IMAGE or "." not in name:
        return False
    once = module.file.text.count(f'"{name}"') + module.file.text.count(f"'{name}'") == 1
    return once and not (Path(module.file.filename).parent / name).is_file()


def _writes_elsewhere(text: str) -> bool:
    """Whether a script writes to paths that are not written down: these may be any file."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return True
    for function in ast.walk(tree):
        if isinstance(function, Function):
            rooted = Rooted(function)
            for node in ast.walk(function):
                path = written_to(node) if isinstance(node, ast.Call) else None
                if path is not None and not isinstance(rooted.root(path), ast.Constant):
                    return True
    return False
