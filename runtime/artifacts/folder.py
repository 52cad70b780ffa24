"""The folder that a run is fetched into, and its journal.

A file or folder at the place of an output is complete. Everything incomplete is in `.flowdsl`, beside a journal: a line
is written before the rename that it describes, and the digest of what is at the place tells whether the rename was
done. `run.json` is written last; then the rest of `.flowdsl` is removed.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from flowdsl.runtime.artifacts.disk import content, keep, move, room, save, write_all
from flowdsl.runtime.artifacts.trouble import NotOurs, Unfit
from flowdsl.runtime.lock import take, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from flowdsl.runtime.artifacts.disk import Content

Json = dict[str, Any]

MANIFEST = "run.json"
WORK = ".flowdsl"
FORMAT = 1
_OR_ELSEWHERE = "move it away, or fetch into another folder with -o"


class Folder:
    """A folder that one process at a time fetches a run into."""

    def __init__(self, path: Path, run: Json) -> None:
        self.path = path
        self.work = path / WORK
        self._run = run
        self._manifest = path / MANIFEST
        self._journal = self.work / "journal.jsonl"
        self._lock = threading.Lock()
        self._records: dict[str, list[Json]] = {}
        self._listed = False
        self._number = 0
        self._file = -1

    def open(self, waits: Callable[[], None]) -> None:
        """Lock the folder; `waits` is called if another process holds it. Raises NotOurs, NoRoom, Unfit."""
        with room(self.work / "lock"):
            self.work.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.work / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
            if not take(self._file):
                waits()
                wait_for(self._file)
        try:
            self._load()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the folder."""
        os.close(self._file)

    def before(self) -> Json | None:
        """The `run.json` of an earlier fetch, if nothing has changed since. Raises NotOurs."""
        try:
            read: Any = json.loads(self._manifest.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            raise self._foreign() from None
        if not isinstance(read, dict) or "flowdsl" not in read:
            raise self._foreign()
        found = cast("Json", read)
        self._same(found)
        return found

    def _foreign(self) -> NotOurs:
        return NotOurs(f"{self._manifest} was not written by a fetch: name another folder with -o")

    def _same(self, found: Json) -> None:
        if found.get("run") != self._run:
            named = found["run"].get("name") if isinstance(found.get("run"), dict) else None
            which = (
                f"the run `{named}`" if named and named != self._run["name"] else "another run of this name"
            )
            raise NotOurs(f"{self.path} holds {which}: name another folder with -o")

    def _load(self) -> None:
        """Read the records of what is in place."""
        found = self.before()
        try:
            text = self._journal.read_bytes() if self._journal.exists() else b""
            # The last line may be truncated.
            whole = [one for one in text.splitlines(keepends=True) if one.endswith(b"\n")]
            lines: list[Json] = [json.loads(one) for one in whole]
        except (OSError, ValueError):
            raise NotOurs(f"{self._journal} cannot be read: remove the folder {self.work}") from None
        if lines:
            self._same(lines[0])
        for record in [*(found or {}).get("outputs", ()), *lines[1:]]:
            if "target" in record:
                self._records.setdefault(record["target"], []).append(record)
        self._listed = found is not None

    def there(
        self, target: str, source: str, version: str, modes: Collection[str]
    ) -> tuple[Json, Content] | None:
        """The record of a target and its content, if that version of a source is in its place as requested."""
        for record in reversed(self._records.get(target, ())):
            if (record["source"], record["version"]) == (source, version) and record["mode"] in modes:
                try:
                    found = content(self.path / target)
                except (OSError, Unfit):
                    return None
                return (record, found) if found.digest == record["digest"] else None
        return None

    def put(self, staged: Path, record: Json) -> None:
        """Move a complete file or folder to its place. Raises Unfit if something else is there, NoRoom."""
        target, digest = record["target"], record["digest"]
        path = self.path / target
        with self._lock, room(path):
            self._parents(path)
            old = None
            if os.path.lexists(path):
                known = [one["digest"] for one in self._records.get(target, ())]
                with suppress(Unfit):
                    old = content(path).digest
                if old not in (digest, *known):
                    raise Unfit(f"{path} is there and is not as a fetch has left it: {_OR_ELSEWHERE}")
            self._note(record)
            if old == digest:
                return
            if old is not None:
                self._number += 1
                path.rename(self.work / f"old-{os.getpid()}-{self._number}")
            move(staged, path)

    def _parents(self, path: Path) -> None:
        """Create the parent folders of a target; none may be a link."""
        at = self.path
        for name in path.relative_to(self.path).parts[:-1]:
            at /= name
            if at.is_symlink() or (at.exists() and not at.is_dir()):
                raise Unfit(f"{at} is there and is not a folder: {_OR_ELSEWHERE}")
            if not at.exists():
                at.mkdir()
                keep(at.parent)

    def _note(self, record: Json) -> None:
        """Append a line to the journal; the entries of `run.json` move there, too, since it is no longer complete."""
        new = [record]
        if self._listed or not self._journal.exists():
            known = [one for several in self._records.values() for one in several]
            new = [{"flowdsl": FORMAT, "run": self._run}, *known, record]
            save(self._journal, b"".join(_line(one) for one in new), self.work)
            if self._listed:
                self._manifest.unlink()
                self._listed = False
        else:
            file = os.open(self._journal, os.O_RDWR | os.O_APPEND)
            try:
                size = os.fstat(file).st_size
                if size and os.pread(file, 1, size - 1) != b"\n":
                    os.ftruncate(file, os.pread(file, size, 0).rindex(b"\n") + 1)
                write_all(file, _line(record))
                os.fsync(file)
            finally:
                os.close(file)
        self._records.setdefault(record["target"], []).append(record)

    def finish(self, manifest: Json) -> None:
        """Write `run.json` and clean up. Raises NoRoom, Unfit."""
        data = json.dumps(manifest, indent=1, ensure_ascii=True).encode() + b"\n"
        with room(self._manifest):
            if not self._listed or self._manifest.read_bytes() != data:
                save(self._manifest, data, self.work)
            for one in self.work.iterdir():
                if one.name == "lock":
                    continue
                if one.is_dir() and not one.is_symlink():
                    shutil.rmtree(one)
                else:
                    one.unlink()


def _line(record: Json) -> bytes:
    return json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
