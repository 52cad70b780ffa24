"""Findings about YAML and JSON that somebody wrote, with the lines and columns of the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.argo_versions import LATEST
from flowdsl.compiler.lint import WRITTEN, lint, shelf
from flowdsl.compiler.lint.config_maps import config_maps, lacking
from flowdsl.compiler.lint.makers import decided, maker
from flowdsl.compiler.lint.pods.limits import for_version
from flowdsl.compiler.lint.variables import arguments
from flowdsl.compiler.schema import beside, kinds
from flowdsl.compiler.schema.findings import dotted, exchanged_kind
from flowdsl.compiler.schema.versions import misfits, was_right
from flowdsl.compiler.tree import is_mapping, value_at
from flowdsl.compiler.yaml.documents import Document, read
from flowdsl.diagnostic import AGAIN, Diagnostic, Finding, Related, near
from flowdsl.grammar.named import NamedTuple
from flowdsl.places.place import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.compiler.lint.config_maps import ConfigMaps
    from flowdsl.compiler.lint.manifest.view import Library
    from flowdsl.compiler.tree import Path


class NoManifest(Finding):
    """A file in which nothing belongs to Argo."""

    code = "FD124"
    title = "there is no Argo manifest in `{file}`"
    label = "{hint}"
    help = (
        "give a file with a Workflow, WorkflowTemplate, ClusterWorkflowTemplate or CronWorkflow: "
        "`apiVersion: argoproj.io/v1alpha1` and `kind`"
    )
    file: str
    hint: str = ""


_KFP = "what KFP 2 compiles is for its own back end: call the functions of its components from `@step`"


class OtherObjects(Finding):
    """A file, named alone, whose objects all belong to Kubernetes and none to Argo Workflows."""

    code = "FD129"
    severity = "warning"
    title = "nothing in `{file}` is checked: none of its objects belongs to Argo Workflows"
    help = (
        "name files with a Workflow, WorkflowTemplate, ClusterWorkflowTemplate or CronWorkflow; in a "
        "folder, other files are skipped"
    )
    file: str


class SameObject(Finding):
    """An object with the kind and name of an earlier one in its file: one replaces the other."""

    code = "FD130"
    title = "the {kind} `{name}` is in this file already"
    label = "the same name"
    help = "rename one of them: `kubectl apply` keeps only the last"
    kind: str
    name: str


class NotUtf8(Finding):
    """A manifest that is not UTF-8, the only encoding that Kubernetes reads."""

    code = "FD125"
    title = "the file is not UTF-8: byte {byte} is not valid in it"
    label = "not UTF-8"
    help = "save it as UTF-8"
    byte: str


class Manifests(NamedTuple):
    """The documents of one file, the errors that keep others from being read, and the version of Argo to check for."""

    file: str
    documents: list[Document]
    problems: list[Diagnostic]
    version: str = LATEST
    others: tuple[Any, ...] = ()
    """Documents of other kinds, which those of Argo may refer to."""
    makers: tuple[Document, ...] = ()
    """Those among them that create workflows."""

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """Those that Argo reads, whatever their version."""
        return [one.body for one in self.documents if is_argo(one.body) and not one.within]


def manifests(text: str, file: str, *, named: bool = True, within: bool = True) -> Manifests:
    """The manifests of a text; `named`: it is an error if none belongs to Argo.

    `within` includes the workflows that objects of other kinds create, and objects without workflows.
    """
    documents, problems = read(text, file)
    found: list[Document] = []
    others: list[Any] = []
    makers: list[Document] = []
    for part in (part for one in documents for part in one.listed):
        if is_argo(part.body) or (within and _is_beside(part.body)) or _wants_to_be(part.body):
            found.append(part)
        elif within and is_mapping(part.body) and str(part.body.get("kind")) in _MAKERS:
            makers.append(part)
            found += map(_as_made, part.held(kinds(), decided(part.body)))
        else:
            others.append(part.body)
    if named and not found and not makers and not problems:
        objects = documents and all(map(_is_object, documents))
        hint = _KFP if any(map(_is_kfp, documents)) else ""
        finding = OtherObjects(file) if objects else NoManifest(file, hint)
        problems = [Diagnostic(finding, Span(file, 1, 0, 1, 0))]
    return Manifests(file, found, problems, others=tuple(others), makers=tuple(makers))


def _as_made(part: Document) -> Document:
    """An object that another one creates, without the arguments and names that are replaced on creation."""
    for place in part.decided:
        last = place[-1:]
        if last == ("value",) or place in (("metadata", "name"), ("metadata", "generateName")):
            part = part._replace(body=_without(part.body, place))
    metadata: object = part.body["metadata"]
    named = {"generateName": "made-", **metadata} if is_mapping(metadata) else metadata
    return part._replace(body={**part.body, "metadata": named})


def _without(body: Any, path: Path) -> Any:
    """A value without what is at a path; only the containers along the path are copied."""
    if not path or value_at(body, path) is None:
        return body
    copy = body.copy()
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = _without(body[path[0]], path[1:])
    return copy


def _is_object(document: Document) -> bool:
    return is_mapping(document.body) and bool(document.body.get("apiVersion") and document.body.get("kind"))


def _is_kfp(document: Document) -> bool:
    """Whether a document is a specification of a pipeline of KFP 2."""
    return is_mapping(document.body) and {"pipelineInfo", "root", "schemaVersion"} <= {*document.body}


def undecodable(error: UnicodeDecodeError, file: str) -> Manifests:
    """The result for a file whose bytes cannot be decoded."""
    before = error.object[: error.start].decode("utf-8")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    finding = NotUtf8(f"{error.object[error.start]:#04x}")
    return Manifests(file, [], [Diagnostic(finding, Span(file, line, column, line, column + 1))])


def check_manifests(files: Iterable[Manifests]) -> list[list[Diagnostic]]:
    """The findings in each of the files; references between them are followed."""
    files = list(files)
    shelved: Library = shelf([body for one in files for body in one.bodies])
    maps = config_maps(body for one in files for body in one.others)
    alone = not any(one.documents for one in files)
    return [
        [
            *(each for each in one.problems if alone or not isinstance(each.finding, OtherObjects)),
            *(each for part in one.documents for each in _findings(part, shelved, one.version, maps)),
            *_repeated(one.documents),
            *(
                Diagnostic(found.finding, part.place(found))
                for part in one.makers
                for found in maker(part.body)
            ),
        ]
        for one in files
    ]


def _repeated(documents: list[Document]) -> Iterable[Diagnostic]:
    """The findings about objects that are already defined in a file."""
    first: dict[tuple[object, ...], Document] = {}
    for one in documents:
        metadata: object = one.body.get("metadata") if is_argo(one.body) and not one.within else None
        name: object = metadata.get("name") if is_mapping(metadata) else None
        if is_mapping(metadata) and isinstance(name, str):
            key = one.body["kind"], str(metadata.get("namespace")), name
            if (earlier := first.setdefault(key, one)) is not one:
                finding = SameObject(str(one.body["kind"]), name)
                places = [each.span(("metadata", "name")) for each in (one, earlier)]
                yield Diagnostic(finding, places[0], (Related(places[1], "the first of them"),))


def _findings(document: Document, library: Library, version: str, maps: ConfigMaps) -> Iterable[Diagnostic]:
    yield from document.doubts
    told: set[tuple[Span, str]] = set()
    for found in (
        *lint(document.body, library, WRITTEN, document.written),
        *(lacking(document.body, maps) if is_argo(document.body) else ()),
        *misfits(document.body, version),
    ):
        problem = for_version(found, version)
        if was_right(problem, version):
            continue
        if document.within and isinstance(problem.finding, arguments.LEFT_TO_RUNS):
            continue  # whatever creates objects from it sets a value
        if any(problem.path[: len(place)] == place for place in document.decided):
            continue  # replaced by another value on creation
        around = None if problem.part is None else document.span(problem.path)
        place = document.place(problem)
        # What an anchor names is in several places of the document, and in one of the file.
        words = place, problem.finding.message.replace(dotted(problem.path), "", 1)
        if words not in told:
            told.add(words)
            again = tuple(Related(document.place(each), AGAIN, each.finding) for each in problem.also)
            yield Diagnostic(problem.finding, place, again, around)


def is_argo(body: object) -> bool:
    """Whether a document has one of the kinds that contain a workflow."""
    return is_mapping(body) and body.get("kind") in kinds()


def _is_beside(body: object) -> bool:
    """Whether a document of Argo contains no workflow, but is checked anyway."""
    return is_mapping(body) and body.get("kind") in beside()


def _wants_to_be(body: object) -> bool:
    """Whether a document of another kind, or of none, is probably meant for Argo."""
    if not is_mapping(body):
        return False
    version: object = body.get("apiVersion")
    if exchanged_kind(version, body.get("kind")):
        return True
    if "kind" in body and isinstance(version, str) and version.startswith("argoproj.io/"):
        if _near(str(body["kind"])):
            return True
    elif "kind" in body:
        return False
    spec: object = body.get("spec")
    return is_mapping(spec) and ("templates" in spec or "entrypoint" in spec)


def _near(kind: str) -> bool:
    return near(kind, kinds()) is not None and kind not in _OTHERS


#: Kinds of objects that create workflows. Source: Argo Events, Katib.
_MAKERS = frozenset(("Experiment", "Sensor"))

#: Kinds of Argo that contain no workflow. Source: Argo Workflows, Events, CD and Rollouts.
_OTHERS = frozenset(
    (
        "AnalysisTemplate",
        "AppProject",
        "Application",
        "ApplicationSet",
        "ClusterAnalysisTemplate",
        "EventBus",
        "EventSource",
        "Rollout",
        "Sensor",
        "WorkflowArtifactGCTask",
        "WorkflowTaskResult",
        "WorkflowTaskSet",
    )
)
