"""A page of the documentation that a tool makes."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def keep(page: Path, text: str, tool: str, arguments: list[str]) -> int:
    """Write the text of a page, or with `--check` tell whether it is current; returns the exit code."""
    current = page.exists() and page.read_text(encoding="utf-8") == text
    if "--check" in arguments:
        if not current:
            sys.stdout.write(f"{page.relative_to(ROOT)} is not current: run python -m tools.{tool}\n")
        return 0 if current else 1
    if not current:
        page.write_text(text, encoding="utf-8")
    return 0
