"""Labels, annotations and node selectors: their keys, and the values that Kubernetes accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries_at, inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.labels import DISPLAY_NAME
from flowdsl.grammar.names import DISPLAYED_NAME, is_label_value, is_qualified_name
from flowdsl.grammar.template import TAG, is_filled, may_be

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


_KEY_FORM = "use `name` or `domain/name`, the name of at most 63 letters, digits, `-`, `_` and `.`"
VALUE_FORM = "use at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends"
_DISPLAY_FORM = "use 2 to 63 letters, digits, `-` and `.`, with a letter or digit at both ends"


class BadLabel(Finding):
    """The key or value of a label, annotation or node selector in a form that Kubernetes refuses."""

    code = "FD505"
    title = "`{text}` cannot be {what}"
    help = "{form}"
    text: str
    what: str
    form: str


def labels(view: View) -> Iterator[Problem]:
    """Labels, annotations and node selectors have the format that Kubernetes requires.

    Text with template tags is not checked where Argo replaces tags.
    """
    yield from metadata_faults(view.metadata, ("metadata",), filled=False)
    for field in ("workflowMetadata", "podMetadata"):
        yield from metadata_faults(inside(view.spec, field), (*view.path, field))
    if view.kind == "CronWorkflow":
        # Its runs are created with this metadata. Source: Argo Workflows, ConvertCronWorkflowToWorkflow.
        metadata = inside(view.document, "spec", "workflowMetadata")
        yield from metadata_faults(metadata, ("spec", "workflowMetadata"), filled=False)
    of_files = "artifactGC", "podMetadata"
    yield from metadata_faults(inside(view.spec, *of_files), (*view.path, *of_files))
    for template in view.with_defaults:
        for path, artifact in entries_at(template.data, template.path, "outputs", "artifacts"):
            yield from metadata_faults(inside(artifact, *of_files), (*path, *of_files))
        if "metadata" in template.data:
            yield from metadata_faults(inside(template.data, "metadata"), (*template.path, "metadata"))
        display = string(template.data, "annotations", DISPLAY_NAME)
        known = display if not is_filled(display) else f"{TAG.sub('', display)}xx"
        if display and DISPLAYED_NAME.fullmatch(known) is None:
            finding = BadLabel(display, "a display name", _DISPLAY_FORM)
            yield Problem((*template.path, "annotations", DISPLAY_NAME), finding)
    for path, claim in entries_at(view.spec, view.path, "volumeClaimTemplates"):
        yield from metadata_faults(inside(claim, "metadata"), (*path, "metadata"))
    for owner, path in view.owners:
        if selector := inside(owner, "nodeSelector"):
            yield from label_faults(selector, (*path, "nodeSelector"), "a node's label", filled=True)


def metadata_faults(metadata: Object, path: Path, filled: bool = True) -> Iterator[Problem]:
    """The findings about labels and annotations; `filled` says that Argo replaces tags in them."""
    yield from label_faults(inside(metadata, "labels"), (*path, "labels"), "a label", filled)
    for field, what in (("annotations", "an annotation"), ("labelsFrom", "a label")):
        yield from _keys(inside(metadata, field), (*path, field), what, filled)
    notes = {str(key): str(value) for key, value in inside(metadata, "annotations").items()}
    # The values of tags may be shorter. Source: Kubernetes, ValidateAnnotationsSize.
    size = sum(len(text.encode(errors="replace")) for each in notes.items() for text in each)
    if size > _MOST_NOTES and not any("{{" in value for value in notes.values()):
        longest = max(notes, key=lambda key: len(notes[key]))
        what = f"so long an annotation: with all others of the object it comes to {size} bytes"
        form = f"keep annotations within {_MOST_NOTES} bytes in all, and put long texts into a file"
        yield Problem((*path, "annotations", longest), BadLabel(longest, what, form))


_MOST_NOTES = 256 * 1024


def label_faults(labels: Object, path: Path, what: str, filled: bool) -> Iterator[Problem]:
    """The findings about the keys and values of labels."""
    yield from _keys(labels, path, what, filled)
    for key, value in labels.items():
        if value and not _fits(is_label_value, value, filled):
            yield Problem((*path, key), BadLabel(value, f"the value of {what}", VALUE_FORM))


def _fits(judge: Callable[[str], bool], text: str, filled: bool) -> bool:
    """Whether a text is valid according to `judge`, or may be where Argo replaces tags."""
    return may_be(judge, text) if filled else judge(text)


def _keys(labels: Object, path: Path, what: str, filled: bool) -> Iterator[Problem]:
    """The findings about keys of labels or annotations; Kubernetes lower-cases the latter first."""
    for key in map(str, labels):
        name = key.lower() if what == "an annotation" else key
        if not _fits(is_qualified_name, name, filled):
            finding = BadLabel(key, f"the key of {what}", _KEY_FORM)
            yield Problem((*path, key), finding, on_key=True)
