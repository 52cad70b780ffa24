"""A type checker, as users call it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def printed(checker: str, *options: str, folder: Path, code: int) -> str:
    """What a checker prints in a folder from which flowdsl can be imported; it must end with this code."""
    done = subprocess.run(
        [sys.executable, "-m", checker, *options],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout
