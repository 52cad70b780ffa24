"""How Sphinx makes the site of these pages: `make docs`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol


class _Environment(Protocol):
    metadata: dict[str, dict[str, Any]]


class _Sphinx(Protocol):
    """What of Sphinx is used here: the checkers run without it."""

    env: _Environment

    def connect(self, event: str, callback: Callable[..., None]) -> int: ...


_PROJECT = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text(encoding="utf-8"))

project = "flowdsl"
version = release = _PROJECT["project"]["version"]
extensions = ["myst_parser"]

# Links to headings have the names that GitHub gives them, so the pages can be read there as well.
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"flowdsl {version}"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_use_index = False


def _reached_from_its_list(app: _Sphinx, page: str, _source: list[str]) -> None:
    """Let the pages of single diagnostics stand in no table of contents: hundreds would fill the sidebar."""
    folder, _, name = page.rpartition("/")
    if folder == "diagnostics" and name != "README":
        app.env.metadata[page]["orphan"] = True


def setup(app: _Sphinx) -> None:
    """Called by Sphinx once."""
    app.connect("source-read", _reached_from_its_list)
