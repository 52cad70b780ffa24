"""Where the files of a run are, by what stands for them in its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from flowdsl.compiler.expressions import VOLUMES


class Files(NamedTuple):
    """Where files are: the folder of the run, and the folders of volumes by their names."""

    folder: Path
    volumes: Mapping[str, Path]

    def of_text(self, text: str) -> Path | None:
        """The file of a key, or of a path on a volume."""
        if text.startswith(f"{VOLUMES}/"):
            name, _, rest = text.removeprefix(f"{VOLUMES}/").partition("/")
            found = self.volumes[name] / rest if name in self.volumes else Path(text)
        else:
            found = self.folder / "artifacts" / text.strip("/")
        return found if found.exists() else None
