"""Steps and pipelines that a file loses, because another function takes their name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.load import Redefined
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.places.place import Definition
from flowdsl.values.signature import is_function

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.pipeline import PipelineDef
    from flowdsl.places.source import SourceFile
    from flowdsl.step import StepDef


def redefined(definitions: Iterable[StepDef | PipelineDef], file: SourceFile) -> Iterator[Diagnostic]:
    """Functions with decorators in whose place there is a step or pipeline of the file in the end."""
    for definition in definitions:
        if not is_function(definition.plain) or file.index is None:
            continue
        name = definition.code.co_name
        found = file.index.decorated.get(name, [])
        if len(found) > 1:
            others = tuple(Related(file.piece(one), "the first one") for one in found[:-1])
            yield Diagnostic(Redefined(name), Definition(definition.code), others)
