"""`tarfile` with the extraction filter `data`: Python's own, or on 3.11.0 to 3.11.3 a backport from PyPI."""

from __future__ import annotations

import os
import tarfile
from typing import TYPE_CHECKING

# 3.11.4 was the first; Debian 12 has 3.11.2.
if not TYPE_CHECKING and not hasattr(tarfile, "data_filter"):
    from backports import tarfile

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["extract", "tarfile"]


def extract(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Extract a member of an archive into a folder, with the filter `data`. Raises OSError and tarfile.FilterError.

    A link is judged by its normalized target, not by the links on its way, as in newer versions of the filter.
    """
    if member.issym() or member.islnk():
        member = member.replace(linkname=os.path.normpath(member.linkname), deep=False)
    archive.extract(member, folder, filter="data")
