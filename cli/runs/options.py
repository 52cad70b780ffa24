"""The options of a run on this machine, and those of them that a later `--resume` takes over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.cli.runs import given
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.local import earlier as past
from flowdsl.runtime.local.pods.store import RUNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Json = dict[str, Any]

KEPT = ("mounts", "artifacts", "config_maps", "secrets", "fakes", "python", "engine", "kubectl")
"""What holds for a run that goes on."""
_PATHS = ("mounts", "artifacts", "config_maps", "secrets")


class Options(NamedTuple):
    """The options of a local run."""

    parameters: Sequence[str] = ()
    mounts: Sequence[str] = ()
    artifacts: Sequence[str] = ()
    config_maps: Sequence[str] = ()
    secrets: Sequence[str] = ()
    fakes: Sequence[str] = ()
    python: str | None = None
    engine: str | None = None
    kubectl: bool = False
    approve: bool = False
    quiet: bool = False
    json: bool = False
    name: str | None = None
    only: str | None = None
    since: str | None = None
    """The step from which on everything runs again."""
    earlier: str | None = None
    """The run whose outputs or inputs are taken; the last one otherwise."""
    folder: Path = Path(RUNS)

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
        before = past.header(folder)["settings"]
        found: dict[str, Any] = {
            field: with_more(before.get(field) or [], getattr(self, field)) for field in _PATHS
        }
        for field in ("python", "engine", "kubectl"):
            found[field] = getattr(self, field) or before.get(field)
        return self._replace(**found)

    def resumed(self, settings: Json) -> Options:
        """The same, with the options that a resumed run was started with."""
        found = {field: value for field, value in settings.items() if field in KEPT}
        for field in "config_maps", "secrets", "fakes":
            found[field] = with_more(found.get(field, ()), getattr(self, field))
        return self._replace(**found)

    def kept(self) -> Json:
        """The options that are stored for resuming the run."""
        found: Json = {field: getattr(self, field) for field in KEPT}
        for field in _PATHS:
            found[field] = [absolute(text) for text in found[field]]
        return found | {"fakes": list(self.fakes)}

    def with_artifacts(self, files: Mapping[str, Path]) -> Options:
        """The same, with other files for artifacts."""
        pairs = [f"{name}={path}" for name, path in files.items()]
        return self._replace(artifacts=with_more(self.artifacts, pairs))


def with_more(pairs: Sequence[str], more: Sequence[str]) -> list[str]:
    """NAME=VALUE pairs with further ones, which take precedence."""
    names = {one.partition("=")[0] for one in more}
    return [*(one for one in pairs if one.partition("=")[0] not in names), *more]


def absolute(pair: str) -> str:
    """NAME=PATH with an absolute path."""
    name, _, path = pair.partition("=")
    return f"{name}={given.lasting(Path(path).expanduser())}"
