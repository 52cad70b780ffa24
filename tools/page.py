"""The files of the repository that tools make: pages of the documentation, and tables in the code."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def stale(wanted: Mapping[Path, str], there: Iterable[Path] = ()) -> list[Path]:
    """The files that are missing or differ, and those of `there` that nothing makes any more."""
    differing = [
        path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    return sorted([*differing, *({*there} - wanted.keys())])


def keep(tool: str, wanted: Mapping[Path, str], there: Iterable[Path] = ()) -> int:
    """Write the files of a tool, or with `--check` on the command line name the stale ones; returns the exit code."""
    arguments = sys.argv[1:]
    if arguments not in ([], ["--check"]):
        sys.stderr.write(f"usage: python -m tools.{tool} [--check]\n")
        return 2
    differing = stale(wanted, there)
    for path in differing:
        if arguments:
            sys.stdout.write(f"{path.relative_to(ROOT)} is not current: run python -m tools.{tool}\n")
        elif path in wanted:
            path.write_text(wanted[path], encoding="utf-8", newline="\n")
        else:
            path.unlink()
    return 1 if arguments and differing else 0


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub names it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
