"""The pieces of a run that can be fetched: each file or folder that a step produced, and its location.

Sources: Argo 4.1, ArtifactLocation.HasLocation and Relocate in pkg/apis/workflow/v1alpha1: an artifact without a
complete location has its key, and the rest comes from the repository, whose fields are all in the status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import STORES
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.artifacts.steps import steps
from flowdsl.runtime.documents import claims
from flowdsl.runtime.names import is_hidden, is_log, on_volume, spelled
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.phases import SUCCEEDED
from flowdsl.runtime.status.run import Run as Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flowdsl.runtime.artifacts.steps import Step

Json = dict[str, Any]

_WHOLE = {"s3": ("endpoint", "bucket", "key"), "gcs": ("bucket", "key"), "azure": ("container", "blob")}
VOLUME = "volume"


class Location(NamedTuple):
    """A location. `kind`: Argo's name of the store, or `volume`; `fields`: the store; `key`: the key in it."""

    kind: str
    key: str
    fields: Json

    @property
    def store(self) -> str:
        """What identifies the store."""
        fields = self.fields
        match self.kind:
            case "s3":
                host = fields.get("endpoint") or "s3.amazonaws.com"
                return f"s3://{fields.get('bucket', '')} at {host}"
            case "gcs":
                return f"gs://{fields.get('bucket', '')}"
            case "azure":
                return f"{fields.get('endpoint', '')}/{fields.get('container', '')}"
            case "volume":
                return f"claim {fields['claim']}"
            case _:
                return self.kind

    @property
    def said(self) -> str:
        """The location as one text, without secrets."""
        match self.kind:
            case "s3" | "gcs":
                scheme = "s3" if self.kind == "s3" else "gs"
                bucket = self.fields.get("bucket", "")  # a local run has none
                return f"{scheme}://{bucket}/{self.key}" if bucket else self.key
            case "volume":
                return f"claim {self.fields['claim']}: {self.key}"
            case "raw":
                return "text in the workflow"
            case "http":
                return self.key.partition("?")[0]  # the query may contain credentials
            case "azure":
                return f"{self.store}/{self.key}"
            case _:
                return f"{self.kind}: {self.key}" if self.key else self.kind


class Piece(NamedTuple):
    """A file or folder of a step."""

    step: Step
    output: str
    location: Location
    archive: str = "none"
    """How it is packed: `none`, `tar` or `zip`; empty if that is not declared."""
    deleted: bool = False
    certain: bool = True
    """Whether it has to be there: a step that failed need not have written what it was to leave on a volume."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return f"{self.step.path}.{self.output}"

    @property
    def target(self) -> str:
        """Its path in the folder, if nothing is packed."""
        return "/".join((*self.step.folder, self.output))

    @property
    def log(self) -> bool:
        """Whether it is the log of a container."""
        return is_log(self.output)


class Run(NamedTuple):
    """A run: its steps, and the pieces of each."""

    status: Status
    steps: list[Step]
    pieces: list[Piece]

    @property
    def name(self) -> str:
        """Its name."""
        return self.status.name

    @property
    def repository(self) -> Json:
        """The repository of the artifacts that name no store of their own."""
        return _repository(self.status.workflow)


def _repository(workflow: Json) -> Json:
    return part(part(part(workflow, "status"), "artifactRepositoryRef"), "artifactRepository")


def read(workflow: Json) -> Run:
    """The steps and pieces of a Workflow object."""
    status = Status(workflow)
    found = steps(status)
    volumes = _Claims(status)
    repository = _repository(workflow)
    pieces: list[Piece] = []
    for step in found:
        if not step.leaf:
            continue
        made = [_artifact(step, one, repository) for one in several(step.outputs, "artifacts")]
        pieces += made
        names = {one.output for one in made}
        for one in several(step.outputs, "parameters"):
            place = volumes.location(str(one.get("value") or ""), step)
            if place is not None and str(one.get("name")) not in names:
                certain = step.node.phase == SUCCEEDED
                pieces.append(Piece(step, str(one["name"]), place, certain=certain))
    return Run(status, found, pieces)


def values(step: Step) -> dict[str, str]:
    """The output parameters of a step, its result and its exit code."""
    outputs = step.outputs
    found = {
        str(one["name"]): str(one["value"])
        for one in several(outputs, "parameters")
        if one.get("value") is not None and not is_hidden(str(one["name"]))
    }
    for extra in ("result", "exitCode"):
        if outputs.get(extra) is not None:
            found.setdefault(extra, str(outputs[extra]))
    return found


def _artifact(step: Step, artifact: Json, repository: Json) -> Piece:
    archive = part(artifact, "archive")
    form = next((one for one in ("none", "zip", "tar") if one in archive), "")
    return Piece(
        step,
        str(artifact.get("name")),
        _location(artifact, repository),
        form,
        bool(artifact.get("deleted")),
    )


def _location(artifact: Json, repository: Json) -> Location:
    for kind in ("raw", "http"):
        if kind in artifact:
            fields = part(artifact, kind)
            return Location(kind, str(fields.get("url") or ""), fields)
    for kind, name in STORES.items():
        if kind in artifact:
            own = {key: value for key, value in part(artifact, kind).items() if value not in (None, "")}
            whole = all(own.get(one) for one in _WHOLE.get(kind, ()))
            fields = own if whole else {**part(repository, kind), **own}
            return Location(kind, str(fields.get(name) or ""), fields)
    other = next((one for one in ("git", "plugin") if one in artifact), "")
    return Location(other, "", {})


class _Claims:
    """The claim that a path on a volume belongs to. flowdsl mounts each volume at a path with its name."""

    def __init__(self, status: Status) -> None:
        self._templates = status.templates
        made = several(part(status.workflow, "status"), "persistentVolumeClaims")
        self._common = claims([*several(status.templates.spec, "volumes"), *made])

    def location(self, text: str, step: Step) -> Location | None:
        """The location that a path refers to; None for any other text."""
        if (found := on_volume(text)) is None:
            return None
        name, key = found
        template = self._templates.of(step.pod)
        known = {**self._common, **claims(several(template, "volumes"))}
        if name not in known or not key:
            return None
        script = part(template, "script") or part(template, "container")
        image = str(script.get("image") or "") if "python" in str(script.get("command")) else ""
        return Location(VOLUME, key, {"claim": known[name], "image": image})


class Chosen(NamedTuple):
    """What names refer to: files, values with the step and the name of each, and unknown names."""

    pieces: list[Piece]
    values: list[tuple[Step, str, str]]
    unknown: list[str]


def chosen(run: Run, wanted: Sequence[str]) -> Chosen:
    """What is selected by steps, graphs with all in them, STEP.OUTPUT and RUN.OUTPUT; without a name, everything."""
    files = {one.name for one in run.pieces}
    texts = [
        (step, name, value)
        for step in run.steps
        if step.leaf
        for declared in (_declared(run, step),)
        for name, value in values(step).items()
        if f"{step.path}.{name}" not in files and name not in declared
    ]
    if not wanted:
        return Chosen(run.pieces, texts, [])
    known = {above for step in run.steps for above in _aboves(step.path)}
    known |= files | {f"{step.path}.{name}" for step, name, _ in texts}
    own = of_run(run)
    wanted = [own.get(one, spelled(one, known)) for one in wanted]

    def meant(step: Step, name: str) -> bool:
        return any(one in (f"{step.path}.{name}", *_aboves(step.path)) for one in wanted)

    return Chosen(
        [one for one in run.pieces if meant(one.step, one.output)],
        [one for one in texts if meant(one[0], one[1])],
        [one for one in wanted if one not in known],
    )


def of_run(run: Run) -> dict[str, str]:
    """The names of the outputs of the run that are files, RUN.OUTPUT, and of the files that they are."""
    files = stored(run)
    outputs = run.status.outputs().items()
    return {f"{run.name}.{name}": files[value].name for name, value in outputs if value in files}


def _declared(run: Run, step: Step) -> set[str]:
    """The files that a step was to make: a parameter of that name is a key, even if a step that failed made none."""
    outputs = part(run.status.templates.of(step.pod), "outputs")
    return {str(one.get("name")) for one in several(outputs, "artifacts")}


def _aboves(path: str) -> list[str]:
    """A step, the loop that it is a round of, and the graphs that contain it."""
    found: list[str] = []
    while path:
        found.append(path)
        head, dot, _ = path.rpartition(".")
        bare = path[: path.rindex("(")] if path.endswith(")") and "(" in path else ""
        path = bare or (head if dot else "")
    return found


def aliases(run: Run) -> Mapping[tuple[str, str], list[str]]:
    """The names under which graphs, and the run, pass on what one of their steps stored, by store and key."""
    found: dict[tuple[str, str], list[str]] = {}
    texts = {text: piece.location for text, piece in stored(run).items()}

    def note(outputs: Json, above: str) -> None:
        places = [
            (one, _location(one, run.repository) if kind == "artifacts" else texts.get(str(one.get("value"))))
            for kind in ("artifacts", "parameters")
            for one in several(outputs, kind)
        ]
        for one, place in places:
            if place is not None:
                names = found.setdefault((place.store, place.key), [])
                names += [name for name in (f"{above}{one.get('name')}",) if name not in names]

    for step in run.steps:
        if not step.leaf:
            note(step.outputs, f"{step.path}.")
    top = run.status.nodes.get(run.name)
    if top is not None and top.type in ("DAG", "Steps", "Retry"):
        note(top.outputs or {}, "")
    note(part(part(run.status.workflow, "status"), "outputs"), "")
    return found


def stored(run: Run) -> dict[str, Piece]:
    """The files of a run by the text of a parameter that passes one on: its key, or its path on a volume."""
    found: dict[str, Piece] = {}
    for one in run.pieces:
        if one.location.kind in STORES:
            found[one.location.key] = one
        elif one.location.kind == VOLUME:
            parameters = several(one.step.outputs, "parameters")
            for each in parameters:
                if each.get("name") == one.output:
                    found.setdefault(str(each.get("value")), one)
    return found
