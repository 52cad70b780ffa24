"""Files that a step reads by a relative name, and that nothing brings into its pod."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.carry.tree import Function
from flowdsl.compiler.checks.left_behind import BRINGS, lies_beside
from flowdsl.compiler.checks.paths import root, text_of
from flowdsl.compiler.checks.variables import Variables
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.carry.module import ModuleSource
    from flowdsl.compiler.checks.body import Body

_OF_THE_IMAGE = frozenset(
    (
        *("argo", "bin", "boot", "dev", "etc", "flowdsl", "home", "lib", "lib64", "media", "mnt", "opt"),
        *("proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var"),
    )
)
"""The top-level folders of a Python image, in which its programs start."""
_MAKES = regex(r"mkd|makedirs|rename|replace\(|connect|venv")
"""Calls that may create a folder."""


def read_by_name(node: ast.AST) -> str:
    """The literal name of the file that a call reads; nothing for any other node."""
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


def unbrought(body: Body, text: str) -> Iterator[tuple[ast.Call, str]]:
    """The unconditional reads, and the names; `text` is the script of the step, whose image is a Python image."""
    if ("open(" not in text and "read_" not in text) or BRINGS.search(text):
        return
    reads = [(one, read_by_name(one)) for one in body.variables.certain if isinstance(one, ast.Call)]
    found = [(node, name) for node, name in reads if _is_alone(name, body.module)]
    if found and not _writes_elsewhere(text):
        yield from found


def unmade(body: Body, text: str) -> Iterator[tuple[ast.Call, str, str]]:
    """The unconditional writes into a folder that nothing creates, with the paths and the folders.

    The image is a Python image, and the script uses only standard modules.
    """
    if not body.variables.writes:
        return  # before searching the text, which is long
    if BRINGS.search(text) or _MAKES.search(text):
        return
    for node in body.variables.certain:
        path = body.variables.writes.get(node)
        name = "" if path is None else text_of(path, body.variables)
        folder, slash, _ = name.rpartition("/")
        if slash and name[:1] not in "/~." and folder.partition("/")[0] not in _OF_THE_IMAGE:
            assert isinstance(node, ast.Call)
            yield node, name, folder


def _is_alone(name: str, module: ModuleSource) -> bool:
    """Whether a name is that of a file in the pod, and occurs only once in the file of the pipeline."""
    top = name.partition("/")[0]
    if not name or name[:1] in "/~." or "://" in name or top in _OF_THE_IMAGE or "." not in name:
        return False
    once = module.file.text.count(f'"{name}"') + module.file.text.count(f"'{name}'") == 1
    return once and not lies_beside(module.file.filename, name)


def _writes_elsewhere(text: str) -> bool:
    """Whether a script writes to paths that are not literals and may be any file."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return True
    for function in ast.walk(tree):
        if isinstance(function, Function):
            variables = Variables(function.body)
            for path in variables.writes.values():
                if not isinstance(root(path, variables), ast.Constant):
                    return True
    return False
