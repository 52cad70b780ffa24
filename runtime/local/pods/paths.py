"""Maps the paths that a manifest names to paths of this machine."""

from __future__ import annotations

import errno
import os
import posixpath
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.pods.sandbox import HIDDEN, OPENED, remove, shown

_MOST_LINKS = 40
_PLAIN = regex(r"[\w@+=:,.-]*")
"""Names that need no quoting in a shell, nor escapes in strings of other languages."""


class View:
    """The file system of a container: its root folder, if it has one, the machine behind that, and its mounts.

    `root`: empty if it has none. `mounts`: the folders and files of this machine by path; the longest path counts.
    """

    def __init__(self, root: str, mounts: Mapping[str, Path]) -> None:
        self.root = root
        self.mounts = dict(sorted(mounts.items(), key=lambda one: -len(one[0])))

    def place(self, path: str, volumes: Sequence[str] = ()) -> Path:
        """The path on this machine, with links followed as the container follows them.

        `volumes`: the mounts of another container, if it is the one that resolves. Raises FileNotFoundError for an
        absolute link in them.
        """
        return self._of(self._followed(path, volumes) or "/")

    def entry(self, path: str) -> Path:
        """The path on this machine, which may be that of a link."""
        above, _, name = posixpath.normpath("/" + path).rpartition("/")
        return self._of(f"{self._followed(above)}/{name}")

    def _followed(self, path: str, volumes: Sequence[str] = ()) -> str:
        left = [part for part in posixpath.normpath("/" + path).split("/") if part]
        at = ""
        links = 0
        while left:
            name = left.pop(0)
            if name == "..":
                at = at.rpartition("/")[0]
                continue
            here = self._of(f"{at}/{name}")
            if here.is_symlink() and links < _MOST_LINKS:
                links += 1
                to = str(here.readlink())
                if to.startswith("/") and any(f"{at}/".startswith(f"{one}/") for one in volumes):
                    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
                left = [part for part in to.split("/") if part not in ("", ".")] + left
                at = "" if to.startswith("/") else at
            else:
                at = f"{at}/{name}"
        return at

    def _of(self, path: str) -> Path:
        for mounted, source in self.mounts.items():
            if path == mounted:
                return source
            if path.startswith(mounted.rstrip("/") + "/"):
                return source / path[len(mounted) :].lstrip("/")
        if not self.root or _of_machine(path):
            return Path(path)
        return Path(self.root, path.lstrip("/"))


def _of_machine(path: str) -> bool:
    """Whether a path belongs to the machine, and was not created by a container."""
    above = ""
    for name in path.strip("/").split("/"):
        at = f"{above}/{name}"
        if above in HIDDEN:
            return False
        if at not in OPENED:
            return (above != "" or shown(name) or name == "proc") and os.path.lexists(at)
        above = at
    return False


class Links:
    """Aliases for paths of this machine that contain spaces, quotes or other special characters."""

    def __init__(self) -> None:
        self.folder = ""
        self.made: dict[str, Path] = {}

    def plain(self, place: Path) -> Path:
        """The path, by an alias that is safe in any script. Raises OSError."""
        parts = str(place).split("/")
        odd = max((number for number, part in enumerate(parts, 1) if not _PLAIN.fullmatch(part)), default=0)
        if not odd:
            return place
        self.folder = self.folder or tempfile.mkdtemp(prefix="flowdsl-", dir="/tmp")
        behind = "/".join(parts[:odd])
        if behind not in self.made:
            link = self.made[behind] = Path(self.folder, str(len(self.made)))
            link.symlink_to(behind)
        return Path(self.made[behind], *parts[odd:])

    def close(self) -> None:
        """Remove the aliases."""
        if self.folder:
            remove(self.folder)


class Rewriting:
    """Replaces the paths of a container in its texts, if it has no file system of its own.

    `names`: how the paths of this machine are written in texts, if not as they are.
    """

    def __init__(self, places: Mapping[str, Path], names: Mapping[str, Path] | None = None) -> None:
        longest = sorted(places, key=len, reverse=True)
        self.places = {path: str(places[path]) for path in longest}
        self.names = {path: str((names or places)[path]) for path in longest}
        known = "|".join(map(re.escape, longest))
        self.known = re.compile(rf"(?<![\w./-])(?:{known})(?![\w.-])")

    def here(self, text: str) -> str:
        """A text with paths of this machine in place of the container's; only whole path components count."""
        return self.known.sub(lambda found: self.names[found[0]], text) if self.names else text

    def there(self, text: str) -> str:
        """A text written by a program, as it would have written it in a container."""
        for known in (self.names, self.places):
            for path, place in known.items():
                text = text.replace(place, path)
        return text


def rewritten(root: Path, mounts: Mapping[str, Path], declared: Iterable[str]) -> dict[str, Path]:
    """The paths of this machine for those of a container that is not isolated.

    Besides the mounts: the paths that the manifest names, their folders that this machine does not have, and
    `/tmp`.
    """
    found = {"/tmp": root / "tmp", **mounts}
    behind = sorted(found, key=len, reverse=True)
    for path in declared:
        at = posixpath.normpath(path)
        while at not in ("/", ".", "") and at not in found and (at == path or not Path(at).exists()):
            above = next((one for one in behind if at.startswith(f"{one}/")), None)
            found[at] = found[above] / at[len(above) + 1 :] if above else root / at[1:]
            at = posixpath.dirname(at)
    return found
