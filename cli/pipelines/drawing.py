"""`graph`: the tasks of pipelines and manifests as Mermaid, DOT or SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from flowdsl.cli.files import give, save
from flowdsl.cli.pipelines.compiling import Target, refuse_source
from flowdsl.cli.pipelines.documents import right_documents
from flowdsl.cli.process import DONE, WRONG, Refused, extra
from flowdsl.compiler.graph import manifest, program
from flowdsl.compiler.graph.picture import dot, mermaid, together
from flowdsl.compiler.lint import shelf
from flowdsl.runtime.documents import is_template
from flowdsl.runtime.local.prepare import runnable

if TYPE_CHECKING:
    from pathlib import Path

    from flowdsl.cli.pipelines.documents import Documents
    from flowdsl.compiler.graph.picture import Picture


def draw(
    target: Path, *, language: Literal["mermaid", "dot"], output: Path | None, svg: Path | None, goal: Target
) -> int:
    """Draw what a file has to run in one picture; returns the exit code."""
    documents = right_documents([str(target)], goal)
    if documents is None:
        return WRONG
    pictures = _pictures(documents)
    if not pictures:
        raise Refused(f"{target}: there is no Workflow, CronWorkflow or template in that file")
    whole = together(pictures)
    if svg is None:
        if output is not None:
            refuse_source(output, target)
        give(mermaid(whole) if language == "mermaid" else dot(whole), output)
        return DONE
    refuse_source(svg, target)
    from flowdsl.cli.display.svg import svg as rendered

    with extra("--svg", "svg", "grandalf"):
        text = rendered(whole)
    save(text, svg)
    return DONE


def _pictures(documents: Documents) -> list[Picture]:
    """A picture of each pipeline or manifest; templates are drawn where nothing else is there to run."""
    if documents.programs:
        return [program.picture(each) for _, each in documents.programs]
    found = runnable(documents.meant) or [one for one in documents.meant if is_template(one)]
    library = shelf(documents.every)
    return [manifest.picture(one, library) for one in found]
