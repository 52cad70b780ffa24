"""Where an object comes from, as labels and annotations of it: nothing of a machine, a place or a time."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from flowdsl.compiler.objects import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Json

PIPELINE = f"{MARKS}/pipeline"
"""A label: the name of the pipeline; runs of templates and schedules have it too."""

SPEC = f"{MARKS}/spec"
"""A label: the digest of the spec. Objects that have it in common do the same."""

SOURCE = f"{MARKS}/source"
"""An annotation: the digest of the files in which the pipeline and its steps are defined."""

EMITTER = f"{MARKS}/format"
"""An annotation: the version of the form in which flowdsl writes a program, raised when that changes."""

FORMAT = "1"

#: Hexadecimal digits of a digest: 128 bits, and short enough for a label.
_DIGITS = 32


def source_digest(texts: Iterable[str]) -> str:
    """The digest of source files, whatever their order."""
    each = sorted(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts)
    return hashlib.sha256(b"".join(each)).hexdigest()[:_DIGITS]


def spec_digest(spec: Json) -> str:
    """The digest of an object's spec, whatever the order of its keys."""
    text = json.dumps(spec, separators=(",", ":"), sort_keys=True, check_circular=False)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def of_runs(program: ir.Program) -> Json:
    """The labels that the runs of a template or schedule are given."""
    return {PIPELINE: program.name}


def mark(metadata: Json, program: ir.Program) -> None:
    """Say in an object's metadata where it comes from; the digest of its spec is filled in at the end."""
    labels = {PIPELINE: program.name, SPEC: ""}
    for field, marks in (("labels", labels), ("annotations", {SOURCE: program.source, EMITTER: FORMAT})):
        metadata[field] = {**metadata.get(field, {}), **marks}


def seal(document: Json) -> None:
    """Fill in the digest of the spec of an object that is finished."""
    document["metadata"]["labels"][SPEC] = spec_digest(document["spec"])
