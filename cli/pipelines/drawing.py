"""`graph`: the tasks of a pipeline as Mermaid, DOT or SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from flowdsl.cli.files import give, save
from flowdsl.cli.pipelines.compiling import Target, judge, refuse_source, show
from flowdsl.cli.process import DONE, WRONG, err, extra
from flowdsl.compiler.graph import dot, mermaid, picture, together

if TYPE_CHECKING:
    from pathlib import Path


def draw(
    target: Path, *, language: Literal["mermaid", "dot"], output: Path | None, svg: Path | None, goal: Target
) -> int:
    """Draw the pipelines of a file in one picture; returns the exit code."""
    judged = judge(target, goal=goal)
    show([judged], "text", err)
    if judged.failed:
        return WRONG
    assert judged.compiled is not None
    whole = together([picture(program) for program in judged.compiled.programs])
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
