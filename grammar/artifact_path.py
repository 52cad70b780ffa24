"""Paths of artifacts, as Argo's executor validates them."""

from __future__ import annotations

import posixpath


def leads_up(path: str) -> bool:
    """Whether a path leaves the folder before its first `..`, which Argo rejects.

    Source: Artifact.CleanPath of Argo Workflows 4.1, which takes any two characters at the end for a `..`.
    """
    before, found, _ = path.partition("/../")
    if not found:
        before = path[:-3] if path[-3:-2] == "/" else ""
    cleaned, below = posixpath.normpath(path), f"{before}/"
    return before != "" and not (cleaned.startswith(below) and len(cleaned) > len(below))
