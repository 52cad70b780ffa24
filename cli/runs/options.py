"""The options of runs: of every new one, of those on this machine and on a cluster; what `--resume` takes over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from flowdsl.cli.root import FLAG, PARAMETERS, option, way_to_wait
from flowdsl.runtime.local import FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]

KEPT = ("mounts", "artifacts", "config_maps", "secrets", "fakes", "python", "engine", "kubectl")
"""What holds for a run that goes on."""
_PATHS = ("mounts", "artifacts", "config_maps", "secrets")


@Parameter(name="*")
@dataclass(frozen=True)
class New:
    """What a new run is given, wherever it runs."""

    parameters: Annotated[Sequence[str], PARAMETERS] = ()
    """NAME=VALUE, a parameter, by its type: lists as JSON, files as paths; on a cluster as keys or paths on volumes."""
    name: str | None = None
    """The name of the run; else that of the pipeline with some letters or digits."""


@Parameter(name="*")
@dataclass(frozen=True)
class Again:
    """What is used again of an earlier run on this machine."""

    only: str | None = None
    """Run this step alone, with the inputs that it had in an earlier run."""
    since: Annotated[Sequence[str], option("--from")] = ()
    """Run this step, or several, and what follows; the results of the others are taken from an earlier run."""
    earlier: Annotated[str | None, Parameter(name="--of")] = None
    """The earlier run, by its name or @latest; else the last one of this workflow."""
    resume: str | None = None
    """Continue an interrupted run, by its name or @latest: what was done is not done again."""


@Parameter(name="*")
@dataclass(frozen=True)
class Submission:
    """How a run is submitted to a cluster, and how its end is waited for."""

    id: str | None = None
    """Submissions with the same content and id are one run, however often they are repeated."""
    labels: Annotated[Sequence[str], option("--label", "-l")] = ()
    """KEY=VALUE, a label of the run."""
    dry_run: Literal["client", "server"] | None = None
    """Create nothing: show what would be sent, or let the server judge it."""
    no_check: Annotated[bool, FLAG] = False
    """Skip the checks for what the cluster lacks, which a step may make, and for values that make the run fail."""
    wait: Annotated[bool, FLAG] = False
    """Wait until the run has ended."""
    watch: Annotated[bool, FLAG] = False
    """Wait, and show its steps meanwhile."""
    logs: Annotated[bool, FLAG] = False
    """Wait, and show what its steps print."""
    timeout: str | None = None
    """How long to wait: 90s, 20m or 6h."""
    output: Annotated[Literal["name", "json", "yaml"], Parameter(parse=False)] = "name"
    """What is written about the new run."""

    @property
    def after(self) -> str:
        """What is done with the run then: `wait`, `watch`, `logs` or nothing. Raises Refused."""
        return way_to_wait(self.timeout, wait=self.wait, watch=self.watch, logs=self.logs)


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """How a workflow is run on this machine."""

    mounts: Annotated[Sequence[str], option("--mount")] = ()
    """CLAIM=PATH, the folder that a persistent volume claim stands for. Else one in .flowdsl/volumes."""
    artifacts: Annotated[Sequence[str], option("--artifact")] = ()
    """NAME=PATH, the file that stands for an input artifact, by its name or key."""
    config_maps: Annotated[Sequence[str], option("--config-map")] = ()
    """NAME=PATH, the data of a ConfigMap: a folder with a file for each key, or a file of KEY=VALUE."""
    secrets: Annotated[Sequence[str], option("--secret")] = ()
    """NAME=PATH, the data of a Secret, likewise."""
    fakes: Annotated[Sequence[str], option("--fake")] = ()
    """STEP=VALUE or STEP.OUTPUT=VALUE: do not run the step, take this for its output."""
    python: str | None = None
    """The interpreter of Python steps; else the one that runs flowdsl."""
    engine: Literal["docker", "podman"] | None = None
    """Run the images of the steps, with this program. Without it, programs of this machine are run."""
    kubectl: Annotated[bool, FLAG] = False
    """Let steps that apply Kubernetes objects do so, with kubectl."""
    approve: Annotated[bool, FLAG] = False
    """Resume suspended steps without asking; one that needs an answer takes it from --fake."""
    quiet: Annotated[bool, option("--quiet", "-q")] = False
    """Show the end only."""
    json: Annotated[bool, Parameter(parse=False)] = False
    """Show the end as JSON."""
    folder: Annotated[Path, Parameter(parse=False)] = Path(FOLDER)

    @property
    def runs(self) -> Path:
        """The folder of the runs."""
        return self.folder / "runs"

    @property
    def volumes(self) -> Path:
        """The folder of the claims without a folder of their own."""
        return (self.folder / "volumes").resolve()

    def as_before(self, folder: Path) -> Options:
        """The same, with the further options of the earlier run in a folder."""
        from flowdsl.runtime.local.earlier import inputs

        before = inputs(folder).settings
        found: dict[str, Any] = {
            field: with_more(before.get(field) or [], getattr(self, field)) for field in _PATHS
        }
        for field in ("python", "engine", "kubectl"):
            found[field] = getattr(self, field) or before.get(field)
        return replace(self, **found)

    def resumed(self, settings: Json) -> Options:
        """The same, with the options that a resumed run was started with."""
        found = {field: value for field, value in settings.items() if field in KEPT}
        for field in "config_maps", "secrets", "fakes":
            found[field] = with_more(found.get(field, ()), getattr(self, field))
        return replace(self, **found)

    def kept(self) -> Json:
        """The options that are stored for resuming the run."""
        found: Json = {field: getattr(self, field) for field in KEPT}
        for field in _PATHS:
            found[field] = [absolute(text) for text in found[field]]
        return found | {"fakes": list(self.fakes)}

    def with_artifacts(self, files: Mapping[str, Path]) -> Options:
        """The same, with other files for artifacts."""
        pairs = [f"{name}={path}" for name, path in files.items()]
        return replace(self, artifacts=with_more(self.artifacts, pairs))


UNNAMED = New()
ANEW = Again()
HERE = Options()
THERE = Submission()


def with_more(pairs: Sequence[str], more: Sequence[str]) -> list[str]:
    """NAME=VALUE pairs with further ones, which take precedence."""
    names = {one.partition("=")[0] for one in more}
    return [*(one for one in pairs if one.partition("=")[0] not in names), *more]


def absolute(pair: str) -> str:
    """NAME=PATH with an absolute path."""
    from flowdsl.cli.runs.given import lasting

    name, _, path = pair.partition("=")
    return f"{name}={lasting(Path(path).expanduser())}"
