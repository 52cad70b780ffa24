"""Compiles the pipeline that was written: it is handed out only if the compiler accepts it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from flowdsl.compiler.argo.provenance import PIPELINE
from flowdsl.compiler.compile import InternalError, compile_loaded
from flowdsl.compiler.findings.importing import Compiled, DoesNotCompile
from flowdsl.compiler.findings.load import NoPipeline
from flowdsl.compiler.load import LoadError, load
from flowdsl.compiler.manifests import is_argo
from flowdsl.compiler.tree import inside
from flowdsl.compiler.written_as import KINDS
from flowdsl.diagnostic import Diagnostic, Related, any_error
from flowdsl.places.place import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.compiler.importing.importing import Imported
    from flowdsl.compiler.written_as import Kind
    from flowdsl.compiler.yaml.documents import Document
    from flowdsl.diagnostic import Finding

_NOTHING = "nothing is written"
_WAY = "change it in the manifest, or remove it, and write it into the pipeline by hand"


def findings(made: Imported, documents: Sequence[Document]) -> list[Diagnostic]:
    """All diagnostics; if flowdsl compiled the documents, one finding instead of all refusals."""
    found = [*made.diagnostics, *refusals(made)]
    refused = [one for one in found if one.finding.severity == "error"]
    argo = [one for one in documents if is_argo(one.body)]
    names = [str(inside(one.body, "metadata", "labels").get(PIPELINE, "")) for one in argo]
    if not refused or not all(names):
        return found
    first, place = refused[0], argo[0].span(("metadata", "labels", PIPELINE))
    related = () if first.place is None else (Related(first.place, first.finding.message),)
    rest = [one for one in found if one.finding.severity != "error"]
    return [*rest, Diagnostic(Compiled(names[0]), place, related)]


def refusals(made: Imported) -> list[Diagnostic]:
    """The compiler's refusals of the text, at the parts of the documents that it was written for."""
    if not made.text or any_error(made.diagnostics):
        return []
    found: list[tuple[int, DoesNotCompile]] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pipeline.py"
        file.write_text(made.text, encoding="utf-8")
        try:
            loaded = load(file)
            compiled = compile_loaded(loaded, kind=_kind(made))
        except LoadError as error:
            found.append((error.span.line if error.span else 1, _said(error.diagnostic.finding, _WAY)))
        except InternalError as error:
            found.append((1, DoesNotCompile("FD000", str(error), _NOTHING, _WAY)))
        else:
            for one in compiled.diagnostics:
                steps_only = isinstance(one.finding, NoPipeline) and "@pipeline" not in made.text
                if one.finding.severity != "error" or steps_only:
                    continue
                span = None if one.place is None else loaded.sources.resolve(one.place)
                line = span.line if isinstance(span, Span) else 1
                found.append((line, _said(one.finding, one.finding.advice or _WAY)))
    told = [made.refused(*one) for one in found]
    return [*{(one.place, one.finding.message): one for one in told if one is not None}.values()]


def _kind(made: Imported) -> Kind | None:
    """The kind to compile the text to; for a template this decides less than for a workflow."""
    wanted = {document.body.get("kind") for _, document, _ in made.places}
    return next((word for word in KINDS if wanted == {KINDS[word]}), None)


def _said(finding: Finding, way: str) -> DoesNotCompile:
    """A finding of the compiler as one about the source of the text."""
    return DoesNotCompile(finding.code, finding.message, finding.caption or _NOTHING, way)
