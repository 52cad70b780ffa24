"""Finds the files of a run on this machine by the keys and paths in its outputs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.local.places import on_volume


class Files(NamedTuple):
    """Finds files in the folder of the run, and in the folders of volumes, by their names."""

    folder: Path
    volumes: Mapping[str, Path]

    def of_text(self, text: str) -> Path | None:
        """The file that a key, or a path on a volume, refers to; None for any other text."""
        if "/" not in text:
            return None
        found = on_volume(text, self.volumes) or self.folder / "artifacts" / text.strip("/")
        # `Path.exists` raises for a text that no file system allows as a name.
        return found if os.path.exists(found) else None  # noqa: PTH110
