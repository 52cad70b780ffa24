"""Results that are the path of a file, as text: the file itself stays in the pod."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from flowdsl.compiler.checks.file_names import TOLD
from flowdsl.compiler.checks.left_behind import BRINGS, is_mounted
from flowdsl.compiler.checks.missing_files import parts
from flowdsl.compiler.checks.paths import text_of
from flowdsl.compiler.findings.bodies import PathAsText
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.values import types as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.checks.left_behind import Written
    from flowdsl.compiler.checks.variables import Variables

_ASKS = frozenset(("exists", "is_file", "name", "parent", "stat"))
"""What asks about a path, and neither writes nor moves the file."""


def path_as_text(one: Written) -> Iterator[Diagnostic]:
    """Literal paths among the results of a step that passes on no file, and does nothing else with the file.

    The function writes the file, in its own pod.
    """
    body, kind = one.body, one.step.signature.returns
    writes = {
        text_of(path, body.variables): call
        for call, path in body.variables.writes.items()
        if isinstance(call, ast.Call)
    }
    if not any(writes) or isinstance(kind, t.Nothing) or t.holds_file(kind) or BRINGS.search(one.text):
        return
    uses = Counter(_uses(body.node.body, body.variables))
    told = [
        (part, path)
        for value in body.returned
        for part in parts(value)
        if (path := text_of(part, body.variables)) and body.evident.of(part) != "Path"
    ]
    known = Counter(text_of(path, body.variables) for path in body.variables.writes.values())
    known.update(path for _, path in told)
    for part, path in told:
        if path in writes and uses[path] == known[path] and not is_mounted(path, one.step, body.given):
            related = Related(body.module.span(writes[path]), "written here, in the pod of the step")
            finding = PathAsText(one.step.name, ast.unparse(part), path)
            yield Diagnostic(finding, body.module.span(part), (related,))


def _uses(body: list[ast.stmt], variables: Variables) -> Iterator[str]:
    """The literal paths that a function does something with, other than print them or ask whether they exist."""
    todo: list[ast.AST] = [*body]
    while todo:
        node = todo.pop()
        match node:
            case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)) if name in variables.once:
                if not text_of(variables.once[name], variables):
                    todo += ast.iter_child_nodes(node)
            case ast.Call(ast.Name(word) | ast.Attribute(attr=word)) if word in TOLD:
                pass
            case ast.Attribute(inner, asked) if asked in _ASKS and text_of(inner, variables):
                pass
            case ast.expr() if path := text_of(node, variables):
                yield path
            case _:
                todo += ast.iter_child_nodes(node)
