"""Where an object comes from, as labels and annotations of it: nothing of a machine, a place or a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowdsl.compiler.objects import MARKS
from flowdsl.compiler.yaml.emit import emit_one
from flowdsl.grammar.digest import sha256
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Json

PIPELINE = f"{MARKS}/pipeline"
"""A label: the name of the pipeline; runs of templates and schedules have it too."""

SPEC = f"{MARKS}/spec"
"""A label: the digest of the spec. Objects with the same digest do the same."""

SOURCE = f"{MARKS}/source"
"""An annotation: the digest of the files in which the pipeline and its steps are defined."""

EMITTER = f"{MARKS}/format"
"""An annotation: the version of flowdsl's output format, increased when that changes."""

FORMAT = "1"

_DIGEST = regex(rf'^ +{SPEC}: "?(\w+)"?$', re.MULTILINE)

_ACCOUNTS = ("apiVersion: v1\nkind: ServiceAccount\n", "apiVersion: rbac.authorization.k8s.io/")
"""How the objects begin that `--with-rbac` adds."""

#: Hexadecimal digits of a digest: 128 bits, and short enough for a label.
_DIGITS = 32


def source_digest(texts: Iterable[str]) -> str:
    """The digest of source files, independent of their order."""
    each = sorted(sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts)
    return sha256(b"".join(each)).hexdigest()[:_DIGITS]


def spec_digest(text: str) -> str:
    """The digest of an object's spec, as it is written."""
    return sha256(text.encode()).hexdigest()[:_DIGITS]


def of_runs(program: ir.Program) -> Json:
    """The labels for the runs of a template or schedule."""
    return {PIPELINE: program.name}


def mark(metadata: Json, program: ir.Program) -> None:
    """Add the provenance to an object's metadata; the digest of its spec is filled in at the end."""
    labels = {PIPELINE: program.name, SPEC: ""}
    for field, marks in (("labels", labels), ("annotations", {SOURCE: program.source, EMITTER: FORMAT})):
        metadata[field] = {**metadata.get(field, {}), **marks}


def sealed(document: Json) -> str:
    """The YAML of an object, with the digest of its spec filled in in its metadata; others are unchanged."""
    labels = document["metadata"].get("labels", {})
    if SPEC not in labels:
        return emit_one(document)
    spec = emit_one({"spec": document["spec"]})
    labels[SPEC] = spec_digest(spec)
    head = {field: value for field, value in document.items() if field != "spec"}
    return emit_one(head) + spec


def is_sealed(text: str) -> bool:
    """Whether a file is what `compile` wrote: objects with the digests of their specs, then accounts and roles."""
    first, *others = text.replace("\r\n", "\n").removesuffix("\n").split("\n---\n")
    return _has_its_digest(first) and all(one.startswith(_ACCOUNTS) or _has_its_digest(one) for one in others)


def _has_its_digest(document: str) -> bool:
    head, _, spec = document.partition("\nspec:\n")
    digest = _DIGEST.search(head)
    return digest is not None and digest[1] == spec_digest(f"spec:\n{spec}\n")
