"""Validates file names, since those of keys and of members of archives are chosen by others.

No name may lead out of its folder, two names must stay different on any file system, and none may mean something else
on another machine. Source of the reserved names and endings: Windows, "Naming Files, Paths, and Namespaces".
"""

from __future__ import annotations

import re
import unicodedata

from flowdsl.grammar.regex import regex

LONGEST_NAME = 255
"""The most bytes of a file name. Source: NAME_MAX of Linux and macOS."""

_RESERVED = regex(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_DRIVE = regex(r"[a-zA-Z]:")
_CONTROL = regex(r"[\x00-\x1f\x7f-\x9f]")


def fault(path: str) -> str:
    """Why a path is not created below a folder; empty if it may be."""
    if path.startswith("/"):
        return "it is absolute"
    if "\\" in path:
        return "it has a backslash"
    if "\0" in path:
        return "it has a NUL"
    if _CONTROL.search(path):
        return "it has a control character"
    try:
        path.encode()
    except UnicodeEncodeError:
        return "it is not UTF-8"
    if _DRIVE.match(path):
        return "it begins with the letter of a drive"
    for name in path.split("/"):
        if name == "..":
            return "it leads upwards"
        if name in ("", "."):
            return "it has an empty part"
        if len(name.encode()) > LONGEST_NAME:
            return f"a part of it is longer than {LONGEST_NAME} bytes"
        if _RESERVED.fullmatch(name):
            return f"`{name}` is a reserved name"
        if name.endswith((".", " ")):
            return "a part of it ends with a dot or a blank"
    return ""


def folded(path: str) -> str:
    """A normal form: equal for paths that some file systems do not distinguish."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


class Names:
    """The names of one folder, as they are created."""

    def __init__(self) -> None:
        self._spelled: dict[str, str] = {}
        self._kinds: dict[str, str] = {}

    def add(self, path: str, kind: str = "file") -> str:
        """Add a `file`, `folder` or `link`; returns why it conflicts with what is there, empty if it does not."""
        names = path.split("/")
        for end in range(1, len(names) + 1):
            part = "/".join(names[:end])
            last = end == len(names)
            key = folded(part)
            seen = self._spelled.setdefault(key, part)
            if seen != part:
                return f"`{part}` and `{seen}` are one name on some file systems"
            wanted = kind if last else "folder"
            before = self._kinds.setdefault(key, wanted)
            if before == "link" and not last:
                return f"it is below the link `{part}`"
            if before != wanted:
                return f"`{part}` is a {before}, too"
            if last and wanted != "folder" and self._kinds.get(f"\0{key}"):
                return "it is there twice"
        self._kinds[f"\0{folded(path)}"] = "made"
        return ""

    def file(self, path: str) -> bool:
        """Whether a file of exactly this name was created."""
        return self._spelled.get(folded(path)) == path and self._kinds.get(folded(path)) == "file"


def link_fault(path: str, target: str) -> str:
    """Why a symbolic link is not created; empty if it stays in the folder.

    Its target may go up only at its beginning, and not above the folder. Since nothing is created below a link, the
    real folder of the link is the one in its path, so that no chain of links leads out.
    """
    if not target or target.startswith("/"):
        return "it leads to an absolute path"
    names = target.split("/")
    ups = 0
    while ups < len(names) and names[ups] in ("..", "."):
        ups += 1
    if names[:ups].count("..") > path.count("/"):
        return "it leads out of the folder"
    rest = "/".join(names[ups:]).rstrip("/")
    if ".." in names[ups:]:
        return "it leads upwards after it went down"
    return fault(rest) if rest else ""
