"""Results that are the path of a file, as text: the file itself stays in the pod."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from flowdsl.compiler.checks.file_names import TOLD, lost_names
from flowdsl.compiler.checks.left_behind import BRINGS, is_mounted
from flowdsl.compiler.checks.missing_files import parts
from flowdsl.compiler.checks.paths import root, text_of
from flowdsl.compiler.findings.bodies import PathAsText
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.values import types as t

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.checks.body import Body
    from flowdsl.compiler.checks.left_behind import Written
    from flowdsl.compiler.checks.variables import Variables

_ASKS = frozenset(("exists", "is_file", "name", "parent", "stat"))
"""What asks about a path, and neither writes nor moves the file."""


_LISTS = frozenset(("glob", "iterdir", "rglob"))
"""What gives the paths in a folder."""


def path_as_text(one: Written) -> Iterator[Diagnostic]:
    """Paths among the results of a step that passes on no file: of its inputs, and of files that it writes."""
    kind = one.step.signature.returns
    if not isinstance(kind, t.Nothing) and not t.holds_file(kind):
        yield from _of_inputs(one.body)
        yield from _of_results(one)


def _of_inputs(body: Body) -> Iterator[Diagnostic]:
    """Paths of inputs, and of what is in them, that arrive as artifacts: these are in the pod of the step only."""
    lost = lost_names(body)
    for part in (part for value in body.returned for part in parts(value)) if lost else ():
        name = _input(part, body.variables)
        if name in lost:
            finding = PathAsText(body.step.name, ast.unparse(part))
            yield Diagnostic(finding, body.module.span(part), (Related(lost[name], "given here"),))


def _input(node: ast.expr, variables: Variables) -> str:
    """The variable with whose path an expression begins, or a list of what is in it; else nothing."""
    match node:
        case ast.Call(ast.Name("sorted" | "list"), [inner]):
            return _input(inner, variables)
        case ast.Call(ast.Name("map"), [ast.Name("str"), listed]):
            return _folder(listed, variables)
        case ast.ListComp(each, [ast.comprehension(ast.Name(name), listed)]) | ast.GeneratorExp(
            each, [ast.comprehension(ast.Name(name), listed)]
        ):
            first = root(each, variables)
            return _folder(listed, variables) if isinstance(first, ast.Name) and first.id == name else ""
        case ast.Call() | ast.JoinedStr() | ast.Name():
            first = root(node, variables)
            return first.id if isinstance(first, ast.Name) else ""
        case _:
            return ""


def _folder(node: ast.expr, variables: Variables) -> str:
    """The variable for the folder whose paths are listed."""
    match node:
        case ast.Call(ast.Name("sorted" | "list"), [inner]):
            return _folder(inner, variables)
        case ast.Call(ast.Attribute(of, verb)) if verb in _LISTS:
            first = root(of, variables)
            return first.id if isinstance(first, ast.Name) else ""
        case _:
            return ""


def _of_results(one: Written) -> Iterator[Diagnostic]:
    """Literal paths among the results of a step that does nothing else with the file.

    The function writes the file, in its own pod.
    """
    body = one.body
    writes = {
        text_of(path, body.variables): call
        for call, path in body.variables.writes.items()
        if isinstance(call, ast.Call)
    }
    if not any(writes) or BRINGS.search(one.text):
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
