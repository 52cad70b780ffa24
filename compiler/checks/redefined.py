"""Steps and pipelines that are lost because a later function of the file has the same name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.carry.module import ModuleSource
from flowdsl.compiler.findings.load import Redefined
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.places.locate import Function, named
from flowdsl.places.place import Definition
from flowdsl.values.signature import is_function

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from flowdsl.pipeline import PipelineDef
    from flowdsl.places.source import SourceFile
    from flowdsl.step import StepDef


def redefined(
    definitions: Iterable[StepDef | PipelineDef], file: SourceFile, namespace: Mapping[str, Any]
) -> Iterator[Diagnostic]:
    """Decorated functions whose names end up as another step or pipeline of the file.

    One that the file keeps under another name, as in `first = load`, is not lost.
    """
    last = {one.code.co_name: one for one in definitions if is_function(one.plain)}
    before: dict[str, Function] = {}
    for node in () if file.tree is None else file.tree.body:
        if isinstance(node, Function) and node.decorator_list and node.name in last:
            lost = before.get(node.name)
            if lost is not None and any(map(ModuleSource(file, namespace).makes_step, lost.decorator_list)):
                first = Related(file.piece(named(lost)), "the first one")
                place = Definition(last[node.name].code)
                yield Diagnostic(Redefined(node.name), place, (first,))
            before[node.name] = node
        elif before and not isinstance(node, (Function, ast.ClassDef)):
            for one in ast.walk(node):
                if isinstance(one, ast.Name):
                    before.pop(one.id, None)
