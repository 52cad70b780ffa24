"""The files of the package, by the names under which they are installed."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def package_files() -> dict[str, list[Path]]:
    """The files of each folder of flowdsl, by the name of its package."""
    found: dict[str, list[Path]] = {}
    for folder, inner, files in os.walk(ROOT / "flowdsl", followlinks=True):
        if "__pycache__" in inner:
            inner.remove("__pycache__")
        if files:
            name = Path(folder).relative_to(ROOT).as_posix().replace("/", ".")
            found[name] = [Path(folder, one) for one in files]
    return found
