"""What was written, compiled: it is handed out only if the compiler takes it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from flowdsl.compiler.compile import InternalError, compile_loaded
from flowdsl.compiler.findings.load import NoPipeline
from flowdsl.compiler.load import LoadError, load
from flowdsl.diagnostic import Diagnostic
from flowdsl.places.place import Span

if TYPE_CHECKING:
    from flowdsl.compiler.importing.importing import Imported

_WAY = "change it in the manifest, or take it out, and write it into the pipeline by hand"


def refusals(made: Imported) -> list[Diagnostic]:
    """What the compiler refuses of a text, at what it was written for."""
    if not made.text or any(one.finding.severity == "error" for one in made.diagnostics):
        return []
    found: list[tuple[int, str, str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pipeline.py"
        file.write_text(made.text, encoding="utf-8")
        try:
            loaded = load(file)
            compiled = compile_loaded(loaded)
        except LoadError as error:
            found.append(
                (error.span.line if error.span else 1, error.diagnostic.finding.code, error.message, _WAY)
            )
        except InternalError as error:
            found.append((1, "FD000", str(error), _WAY))
        else:
            for one in compiled.diagnostics:
                steps_only = isinstance(one.finding, NoPipeline) and "@pipeline" not in made.text
                if one.finding.severity != "error" or steps_only:
                    continue
                span = None if one.place is None else loaded.sources.resolve(one.place)
                line = span.line if isinstance(span, Span) else 1
                found.append((line, one.finding.code, one.finding.message, one.finding.advice or _WAY))
    told = [made.refused(*one) for one in found]
    return [*{(one.place, one.finding.message): one for one in told if one is not None}.values()]
