"""Check the links of the repository: symbolic links, and relative links in Markdown.

Prints one line for each link that leads nowhere, as `file:line: text`, and exits with 1 if there is one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

from tools.page import ROOT, anchor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^#+\s+(.*)")
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:")


def files() -> list[Path]:
    """The files of the checkout that git tracks or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return sorted({ROOT / name for name in listed.stdout.split("\0") if name})


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a Markdown file that are not in a code block."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(path: Path) -> set[str]:
    """The anchors of a Markdown file: those of its headings, as GitHub names them, and of `<a id>`."""
    found: set[str] = set()
    for _, line in prose(path):
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
        if heading := HEADING.match(line):
            found.add(anchor(heading[1]))
    return found


def dead(path: Path) -> Iterator[str]:
    """The dead links of one Markdown file."""
    for number, line in prose(path):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if ELSEWHERE.match(target):
                continue
            name, _, wanted = target.partition("#")
            goal = (path.parent / name) if name else path
            if not goal.exists():
                yield f"{path.relative_to(ROOT)}:{number}: no file {target}"
            elif wanted and goal.suffix == ".md" and wanted not in anchors(goal):
                yield f"{path.relative_to(ROOT)}:{number}: no heading {target}"


def main() -> int:
    """Check all links; returns the exit code."""
    found: list[str] = []
    for path in files():
        if path.is_symlink() and not path.exists():
            found.append(f"{path.relative_to(ROOT)}:1: the link leads nowhere")
        elif path.suffix == ".md" and path.is_file():
            found.extend(dead(path))
    print("\n".join(found) or "all links lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
