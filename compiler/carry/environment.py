"""Environment variables that a statement reads without a default."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.carry.tree import value_of
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Variables that containers, images and process launchers set.
_COMMON = regex(
    r"HOME|PATH|HOSTNAME|PWD|SHELL|TERM|TZ|LANG|LC_\w+|TMPDIR|LD_\w+|PYTHON\w*|VIRTUAL_ENV|CONDA_\w+|JAVA_HOME"
    r"|(?:KUBERNETES|ARGO|FLOWDSL|CUDA|NVIDIA|NCCL|OMP|SLURM|TORCHELASTIC)_\w+"
    r"|(?:\w+_)?RANK|(?:LOCAL_|GROUP_)?WORLD_SIZE|MASTER_(?:ADDR|PORT)|JOB_COMPLETION_INDEX|TF_CONFIG"
)


def environment_reads(node: ast.stmt, namespace: Mapping[str, Any]) -> Iterator[tuple[ast.expr, str]]:
    """Reads of environment variables with a literal name, and the names."""
    for one in ast.walk(node):
        match one:
            case ast.Subscript(value, ast.Constant(str() as name), ast.Load()):
                found = value_of(value, namespace) is os.environ
            case ast.Call(ast.Attribute(value, "get"), [ast.Constant(str() as name)], []):
                found = value_of(value, namespace) is os.environ
            case ast.Call(function, [ast.Constant(str() as name)], []):
                found = value_of(function, namespace) is os.getenv
            case _:
                continue
        if found and not _COMMON.fullmatch(name):
            yield one, name
