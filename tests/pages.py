"""The pages of the documentation: their blocks of code, and the files that these show."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    "README.md",
    *(
        str(path.relative_to(ROOT))
        for path in sorted(ROOT.glob("docs/**/*.md"))
        if path.parent.name != "diagnostics"
    ),
]
BLOCK = re.compile(
    r"(?:<!-- (file|peer): (\S+) -->\n)?^```(\w+|\{toctree\})\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """One block of code on a page."""

    file: str | None
    language: str
    text: str
    start: int
    end: int
    peer: bool


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str) -> list[Block]:
    return [Block(m[2], m[3], m[4], m.start(4), m.end(4), m[1] == "peer") for m in BLOCK.finditer(read(page))]


def sources(page: str) -> list[tuple[str, str, Block]]:
    """The files that a page shows: name, text, and the block that completes it."""
    found: list[tuple[str, str, Block]] = []
    beginning: str | None = None
    for block in blocks(page):
        if block.language != "python" or block.peer:
            continue
        if block.file is not None:
            found.append((block.file, block.text, block))
        elif beginning is None:
            beginning = block.text
        else:
            found.append((f"block_{len(found)}.py", beginning + "\n\n" + block.text, block))
    return found


def settle(page: str, folder: Path) -> None:
    """Write the settings, manifests and texts that a page shows as files."""
    for block in blocks(page):
        if block.language in ("toml", "yaml", "text") and block.file is not None:
            (folder / block.file).parent.mkdir(exist_ok=True)
            (folder / block.file).write_text(block.text, encoding="utf-8")


def right(page: str) -> list[tuple[str, str, Block]]:
    return [one for one in sources(page) if one[0] != "mistake.py"]
