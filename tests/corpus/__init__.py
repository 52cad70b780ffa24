"""Tests against reference material that is not part of the project.

The material is looked for beside the checkout, or where the environment variable FLOWDSL_CORPUS says.
"""

from __future__ import annotations

import os
from pathlib import Path

CORPUS = Path(os.environ.get("FLOWDSL_CORPUS") or Path(__file__).resolve().parents[2].parent / "shared")


def corpus(*parts: str) -> Path:
    """A file or folder of the reference material. Raises FileNotFoundError that says how to provide it."""
    path = CORPUS.joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is not there: set FLOWDSL_CORPUS to the folder of the reference material"
        )
    return path
