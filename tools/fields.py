"""The page docs/guide/argo-fields.md: for every field of Argo the word that writes it, or that `argo=` reaches it.

`python -m tools.fields` writes it; with `--check` it only tells whether the page is current. Which option writes a
field is not declared but found: the examples and the cases of the tests are compiled, and the origins of what comes out
name the option. Only the words of which the origins say nothing, most of them no options, are listed here, for fields
that the compiler was seen to write.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any, get_args

from flowdsl.compiler.argo.patch import CRON, METADATA, SPEC, TASK, TEMPLATE
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.compiler.options import KINDS
from flowdsl.compiler.options.pipeline import READERS
from flowdsl.compiler.schema.table import fields, is_type, kinds, required, rules
from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.compiler.written_as import Kind
from flowdsl.places.place import Argument
from tools.page import DOCS, ROOT, keep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.argo import Manifest
    from flowdsl.compiler.argo.patch import Target

    Field = tuple[str, str]  # type, field
    Path_ = tuple[str, ...]  # from a root: fields, and "[]" or "{}" for an entry of a list or map

PAGE = DOCS / "guide" / "argo-fields.md"
SOURCES = ("tests/lowering/*.py", "tests/objects/*.py", "examples/*/pipeline.py")
OPTIONS = {*READERS, *(option for options in KINDS.values() for option in options)} - {"argo"}

#: The roots of patches: the fields of the option itself, or of one of its entries.
ROOTS: Mapping[str, Target] = {
    "step": TEMPLATE,
    "task": TASK,
    "pipeline": SPEC,
    "metadata": METADATA,
    "cron": CRON,
}

#: The words that the origins do not name, by the field that they write. A test fails for one that is not written.
LANGUAGE: Mapping[Field, str] = {
    ("Arguments", "artifacts"): "arguments of a call",
    ("Arguments", "parameters"): "arguments of a call, parameters of the pipeline",
    ("Artifact", "archive"): "`archive`",
    ("Artifact", "azure"): "`Azure`",
    ("Artifact", "from"): "a file as an argument",
    ("Artifact", "gcs"): "`GCS`",
    ("Artifact", "git"): "`Git`",
    ("Artifact", "http"): "`Http`",
    ("Artifact", "optional"): "`Path | None`",
    ("Artifact", "path"): "a `Path` as a parameter or result",
    ("Artifact", "raw"): "`Raw`",
    ("Artifact", "s3"): "`S3`, a file that crosses a loop, a branch or a pipeline",
    ("Container", "args"): "`command`",
    ("Container", "command"): "`command`",
    ("Container", "env"): "`command(env=)`",
    ("Container", "volumeMounts"): "`Volume`",
    ("DAGTask", "arguments"): "arguments of a call",
    ("DAGTask", "continueOn"): "`may_fail`, `fan_out(keep_going=)`, `sweep`",
    ("DAGTask", "depends"): "data flow, `after`",
    ("DAGTask", "name"): "the variable of a result, `name`",
    ("DAGTask", "template"): "the call of a step",
    ("DAGTask", "templateRef"): "`@call_template`",
    ("DAGTask", "when"): "`when`, `unless`, `otherwise`",
    ("DAGTask", "withItems"): "`fan_out`, `sweep`",
    ("DAGTask", "withParam"): "`fan_out` over a value of the run",
    ("DAGTemplate", "tasks"): "`@pipeline`",
    ("EmbeddedMetadata", "name"): "`NewVolume`",
    ("Inputs", "artifacts"): "parameters of a function",
    ("Inputs", "parameters"): "parameters of a function",
    ("ObjectMeta", "name"): "`name`",
    ("Outputs", "artifacts"): "the result of a function",
    ("Outputs", "parameters"): "the result of a function",
    ("Parameter", "description"): "`Annotated`, `@approve`",
    ("PersistentVolumeClaimVolumeSource", "claimName"): "`Volume`",
    ("ResourceTemplate", "action"): "`@resource`",
    ("ResourceTemplate", "manifest"): "`manifest`",
    ("ResourceTemplate", "manifestFrom"): "`manifest`",
    ("ScriptTemplate", "source"): "the source of a function",
    ("ScriptTemplate", "volumeMounts"): "`Volume`",
    ("Template", "affinity"): "`placement`",
    ("Template", "container"): "`@container`",
    ("Template", "dag"): "`@pipeline`",
    ("Template", "http"): "`@http`",
    ("Template", "inputs"): "parameters of a function",
    ("Template", "name"): "the name of a function",
    ("Template", "nodeSelector"): "`pool`, `spot`",
    ("Template", "outputs"): "the result of a function",
    ("Template", "parallelism"): "`fan_out(parallel=)`, `sweep(parallel=)`",
    ("Template", "resource"): "`@resource`",
    ("Template", "script"): "`@step`",
    ("Template", "suspend"): "`@approve`",
    ("Template", "tolerations"): "`pool`, `spot`",
    ("ValueFrom", "expression"): "what a pipeline returns",
    ("ValueFrom", "jqFilter"): "`manifest`",
    ("ValueFrom", "jsonPath"): "`manifest`",
    ("ValueFrom", "parameter"): "what a pipeline returns",
    ("ValueFrom", "path"): "the result of a function",
    ("ValueFrom", "supplied"): "`@approve`",
    ("Volume", "persistentVolumeClaim"): "`Volume`",
    ("VolumeMount", "mountPath"): "`Volume`",
    ("VolumeMount", "readOnly"): "`Volume`",
    ("WorkflowSpec", "arguments"): "parameters of the pipeline",
    ("WorkflowSpec", "entrypoint"): "`@pipeline`",
    ("WorkflowSpec", "onExit"): "`on_exit`, `on_failure`",
    ("WorkflowSpec", "templates"): "steps and pipelines",
    ("WorkflowSpec", "volumeClaimGC"): "`NewVolume`",
    ("WorkflowSpec", "volumeClaimTemplates"): "`NewVolume`",
    ("WorkflowSpec", "volumes"): "`Volume`",
}

#: Such words by the type of which they write all fields that are written.
WHOLE: Mapping[str, str] = {
    "ArchiveStrategy": "`archive`",
    "AzureArtifact": "`Azure`",
    "BasicAuth": "`Http`",
    "ContinueOn": "`may_fail`, `fan_out(keep_going=)`, `sweep`",
    "GCSArtifact": "`GCS`",
    "GitArtifact": "`Git`",
    "HTTP": "`request`",
    "HTTPArtifact": "`Http`",
    "HTTPAuth": "`Http`",
    "HTTPHeader": "`request`",
    "HTTPHeaderSource": "`request`",
    "Header": "`Http`",
    "ManifestFrom": "`manifest`",
    "PersistentVolumeClaim": "`NewVolume`",
    "PersistentVolumeClaimSpec": "`NewVolume`",
    "RawArtifact": "`Raw`",
    "S3Artifact": "`S3`",
    "TarStrategy": "`archive`",
    "TemplateRef": "`@call_template`",
    "VolumeClaimGC": "`NewVolume`",
    "VolumeResourceRequirements": "`NewVolume`",
}


# --- evidence --------------------------------------------------------------------------------------


def written() -> dict[Field, set[str]]:
    """Every field that the compiler writes for the examples and cases, with the options that determine it."""
    found: dict[Field, set[str]] = defaultdict(set)
    for pattern in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            for kind in get_args(Kind) if "objects" in pattern else (None,):
                for manifest in compile_loaded(load(path), kind=kind).manifests:
                    _walk(manifest.body, manifest.body["kind"], None, manifest, found)
    return found


def _walk(
    value: Any, kind: str, word: str | None, manifest: Manifest, found: dict[Field, set[str]]
) -> set[str] | None:
    """Record the fields of a value; returns the options that determine all of it, or None if something else does.

    Fields from a patch do not count.
    """
    parts: list[tuple[str | int, Any, str]] = []
    if is_list(value):
        parts = [(index, one, kind.removeprefix("list:")) for index, one in enumerate(value)]
    elif is_mapping(value):
        known = fields(kind) if is_type(kind) else None
        parts = [
            (key, one, kind.removeprefix("map:") if known is None else known[key])
            for key, one in value.items()
        ]
    else:
        return {word} if word else None
    words: set[str] | None = set()
    for key, one, inner in parts:
        deciding = _word(manifest, value, key, word)
        if deciding == "argo":
            continue
        below = _walk(one, inner, deciding, manifest, found)
        if is_type(kind):
            found[kind, str(key)] |= {deciding} if deciding else below or set()
        words = None if below is None or words is None else words | below
    return words


def _word(manifest: Manifest, holder: Any, key: str | int, around: str | None) -> str | None:
    """The option that determines a part: that of its origin, or of its parent."""
    if (id(holder), key) not in manifest.origins:
        return around
    place = manifest.origins[id(holder), key]
    if isinstance(place, Argument) and place.name in {*OPTIONS, "argo"}:
        return place.name
    return None


# --- reach -----------------------------------------------------------------------------------------


def paths() -> dict[str, dict[str, Path_]]:
    """For each root, the shortest path to every type below it."""
    found: dict[str, dict[str, Path_]] = {}
    for root, target in ROOTS.items():
        reached: dict[str, Path_] = {target.type: ()}
        waiting = [target.type]
        for kind in waiting:
            for field, expression in fields(kind).items():
                if (*reached[kind], field) in target.fixed:
                    continue
                *outer, inner = expression.split(":")
                if is_type(inner) and inner not in reached:
                    entries = ("[]" if one == "list" else "{}" for one in outer)
                    reached[inner] = (*reached[kind], field, *entries)
                    waiting.append(inner)
        found[root] = reached
    return found


def reach(kind: str, field: str, ways: dict[str, dict[str, Path_]]) -> tuple[str, Path_] | None:
    """The root and the path of a patch for a field; None if no patch reaches it."""
    for root, reached in ways.items():
        if kind in reached and (path := (*reached[kind], field)) not in ROOTS[root].fixed:
            return root, path
    return None


def sample(expression: str, rule: Mapping[str, Any], around: tuple[str, ...] = ()) -> Any:
    """A value that the schema accepts for a type expression under a rule."""
    outer, _, inner = expression.partition(":")
    if outer == "list":
        return [entry(inner, sample(inner, rule.get("each", {}), around))] * max(1, rule.get("minItems", 1))
    if outer == "map":
        return {"example": sample(inner, {}, around)}
    if is_type(expression):
        return needed(expression, around)
    if expression == "string":
        return rule["enum"][0] if "enum" in rule else _TEXTS.get(rule.get("pattern", ""), "example")
    number = max(1, rule.get("min", 1))
    values: dict[str, Any] = {"boolean": True, "object": {}, "any": {}, "quantity": "1", "number": 1.5}
    return values.get(expression, number)


def entry(kind: str, value: Any) -> Any:
    """An entry of a list, with a name if such entries have names, since lists are merged by name."""
    named = is_type(kind) and fields(kind).get("name") == "string"
    return {"name": "example", **value} if named else value


#: Texts for the named patterns that `example` does not match.
_TEXTS = {"schedule": "@daily", "base64": "ZXhhbXBsZQ==", "quantity": "1"}


def needed(kind: str, around: tuple[str, ...] = ()) -> dict[str, Any]:
    """The minimal object of a type: its required fields."""
    return {
        field: sample(fields(kind)[field], rules(kind).get(field, {}), (*around, kind))
        for field in required(kind)
        if kind not in around
    }


def patch(root: str, path: Path_) -> dict[str, Any]:
    """A patch of a root that sets the field at a path."""

    def below(expression: str, rule: Mapping[str, Any], steps: Path_) -> Any:
        if not steps:
            return sample(expression, rule)
        step, *rest = steps
        outer, _, inner = expression.partition(":")
        if outer == "list":
            return [entry(inner, below(inner, rule.get("each", {}), tuple(rest)))]
        if outer == "map":
            return {"example": below(inner, {}, tuple(rest))}
        value = below(fields(expression)[step], rules(expression).get(step, {}), tuple(rest))
        return {**needed(expression), step: value}

    made: dict[str, Any] = below(ROOTS[root].type, {}, path)
    return {path[0]: made[path[0]]}  # the required fields of a root exist already


# --- the page --------------------------------------------------------------------------------------

HEAD = """\
# The fields of Argo

For every field of Argo's objects, as the full custom resource definitions of Argo 4.1 have them, the word that writes
it. Fields without a word are put there by [`argo=`](objects.md#every-other-field-of-argo). This page is written by
`python -m tools.fields`: which option writes a field is what was seen when the examples and the tests were compiled.

"""
TAIL = """\
## Types without a word

Everything below these is reached by `argo=` alone.

"""


def page() -> str:
    """The text of the page."""
    found = written()
    with_words: list[str] = []
    without: list[str] = []
    for kind in _order():
        names = list(fields(kind))
        seen = [field for field in names if (kind, field) in found]
        others = [
            field for field in names if field not in seen and not (kind in kinds() and field == "status")
        ]
        if not seen:
            without.append(f"- `{kind}`: {_names(others)}\n")
            continue
        rows = "".join(f"| `{kind}.{field}` | {_said(kind, field, found[kind, field])} |\n" for field in seen)
        table = f"## {kind}\n\n| field | written by |\n|---|---|\n{rows}\n"
        with_words.append(table + (f"By `argo=`: {_names(others)}\n\n" if others else ""))
    return HEAD + "".join(with_words) + TAIL + "".join(without)


def _order() -> Iterator[str]:
    """The types, in the order in which they are reached from the four kinds."""
    waiting = list(kinds())
    for kind in waiting:
        yield kind
        for expression in fields(kind).values():
            inner = expression.rpartition(":")[2]
            if is_type(inner) and inner not in waiting:
                waiting.append(inner)


def _said(kind: str, field: str, options: set[str]) -> str:
    words = [f"`{option}`" for option in sorted(options)]
    language = LANGUAGE.get((kind, field)) or WHOLE.get(kind)
    return ", ".join([*words, *([language] if language else [])]) or "flowdsl"


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"


if __name__ == "__main__":
    sys.exit(keep("fields", {PAGE: page()}))
