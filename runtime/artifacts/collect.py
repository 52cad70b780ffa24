"""Downloads pieces of a run into a folder: in parallel, each completely or not at all, and none twice."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import shutil
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.artifacts.disk import content, keep, room
from flowdsl.runtime.artifacts.download import TWICE, download
from flowdsl.runtime.artifacts.folder import MANIFEST, WORK
from flowdsl.runtime.artifacts.paths import Names, fault, link_fault
from flowdsl.runtime.artifacts.trouble import (
    FetchError,
    Missing,
    NoRoom,
    Stopped,
    StoreError,
    Unfit,
)
from flowdsl.runtime.artifacts.unpack import Limits, form, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flowdsl.runtime.artifacts.disk import Content
    from flowdsl.runtime.artifacts.folder import Folder
    from flowdsl.runtime.artifacts.pieces import Piece
    from flowdsl.runtime.artifacts.sources import Entry, Source

Json = dict[str, Any]
T = TypeVar("T")

_ENDINGS = {"tar": ".tgz", "zip": ".zip"}
"""The file name extensions of packed outputs."""


class Settings(NamedTuple):
    """Options of a download."""

    jobs: int = 8
    unpacked: bool = True
    limits: Limits = Limits()
    pause: float = 1.0
    """Seconds before the first retry after an interruption; each pause is longer."""


class Outcome(NamedTuple):
    """The result for a piece."""

    piece: Piece
    record: Json | None = None
    """Its entry in `run.json`, if it is in the folder."""
    found: Content | None = None
    trouble: Sequence[FetchError] = ()
    """Why all or some of it is missing."""
    new: bool = False
    """Whether it is new in the folder."""


class Collector:
    """Downloads pieces into a folder. `open` returns the source of a piece."""

    def __init__(
        self,
        folder: Folder,
        open: Callable[[Piece], Source],
        settings: Settings,
        tell: Callable[[Outcome], None],
    ) -> None:
        self._folder = folder
        self._open = open
        self._settings = settings
        self._tell = tell
        self._stop = threading.Event()
        self._full: list[NoRoom] = []
        self._dead: dict[str, StoreError] = {}
        self._plain: set[str] = set()
        """Stores whose ETags have been seen not to be digests."""

    def collect(self, pieces: Sequence[Piece]) -> list[Outcome]:
        """Download pieces; returns their outcomes, in order. Raises NoRoom, and KeyboardInterrupt after a Ctrl-C."""
        try:
            plans: list[_Plan] = []
            for plan in self._each([partial(self._plan, one) for one in _apart(pieces)]):
                plans.append(plan)
                self._say(plan.outcome)
            for ended in self._each([partial(self._bring, plan, at) for plan in plans for at in plan.open]):
                self._say(ended)
        finally:
            self._stop.set()
        if self._full:
            raise self._full[0]
        made = {id(plan.piece): plan.outcome for plan in plans}
        return [found for one in pieces if (found := made[id(one)]) is not None]

    def _say(self, outcome: Outcome | None) -> None:
        if outcome is not None and not any(isinstance(one, Stopped) for one in outcome.trouble):
            self._tell(outcome)

    def _each(self, work: Sequence[Callable[[], T]]) -> Iterator[T]:
        """Call functions in threads, several at a time; yields their results as they arrive.

        The threads are daemons: one that waits for a store does not delay a Ctrl-C.
        """
        todo: queue.SimpleQueue[Callable[[], T] | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[list[T], BaseException | None]] = queue.SimpleQueue()

        def labour() -> None:
            while (one := todo.get()) is not None:
                try:
                    done.put(([one()], None))
                except BaseException as error:
                    done.put(([], error))

        for one in work:
            todo.put(one)
        for _ in range(min(self._settings.jobs, len(work))):
            todo.put(None)
            threading.Thread(target=labour, daemon=True).start()
        for _ in work:
            results, error = done.get()
            if error is not None:
                raise error
            yield from results

    # --- a piece ---------------------------------------------------------------------------------------------

    def _plan(self, one: tuple[Piece, str]) -> _Plan:
        """The files of a piece that have to be downloaded."""
        piece, clash = one
        plan = _Plan(piece)
        try:
            if clash:
                raise Unfit(clash)
            if piece.deleted:
                raise Missing("the clean-up of the run's artifacts has deleted it")
            self._alive(piece)
            plan.source = self._open(piece)
            entries = plan.source.entries()
            plan.version = _version(entries)
            plan.entries = _kept(entries, plan.trouble)
            for target in (piece.target, *(f"{piece.target}{ending}" for ending in _ENDINGS.values())):
                known = self._folder.there(target, piece.location.said, plan.version, self._modes)
                if known is not None:
                    plan.known(*known)
                    return plan
            if entries and not plan.entries:
                raise Unfit(*(str(one) for one in plan.trouble))
            name = json.dumps([piece.target, piece.location.said, plan.version])
            plan.work = self._folder.work / hashlib.sha256(name.encode()).hexdigest()[:32]
            with room(plan.work):
                plan.work.mkdir(exist_ok=True)
                if not entries:
                    (plan.work / "whole").mkdir(exist_ok=True)
            plan.left = len(plan.entries)
            plan.open = range(len(plan.entries))
            if not entries:
                self._settle(plan)
        except FetchError as error:
            if piece.certain or not isinstance(error, Missing):
                self._note(error)
                plan.fail(error)
        return plan

    @property
    def _modes(self) -> tuple[str, ...]:
        """The ways in which an existing target may have been unpacked, to be what is wanted now."""
        return ("", "unpacked", self._refused) if self._settings.unpacked else ("", "packed")

    @property
    def _refused(self) -> str:
        limits = self._settings.limits
        return f"refused at {limits.size}, {limits.members}, {limits.ratio}"

    def _alive(self, piece: Piece) -> None:
        if self._stop.is_set():
            raise Stopped("the fetch was stopped")
        dead = self._dead.get(piece.location.store)
        if dead is not None:
            raise StoreError(f"not tried: {dead}", dead.store)

    def _note(self, error: FetchError) -> None:
        if isinstance(error, StoreError) and error.store:
            self._dead.setdefault(error.store, error)
        if isinstance(error, NoRoom):
            self._full.append(error)
            self._stop.set()

    def _bring(self, plan: _Plan, at: int) -> Outcome | None:
        """Download one file of a piece; returns the outcome of the piece if it was the last one."""
        try:
            self._alive(plan.piece)
            if not plan.broken:
                plan.checked[at] = self._file(plan, at)
        except FetchError as error:
            self._note(error)
            with plan.lock:
                plan.broken = plan.broken or error
        with plan.lock:
            plan.left -= 1
            if plan.left:
                return None
        try:
            if plan.broken is not None:
                raise plan.broken
            self._settle(plan)
        except FetchError as error:
            self._note(error)
            plan.fail(error)
        return plan.outcome

    def _file(self, plan: _Plan, at: int) -> str:
        """Download one file to its path in the work folder; returns how it was verified."""
        entry = plan.entries[at]
        target = plan.staged(entry)
        with room(target):
            if os.path.lexists(target):
                return ""
            target.parent.mkdir(parents=True, exist_ok=True)
            if entry.link:
                target.symlink_to(entry.link)
                return ""
            part = plan.work / f"{at}.part"
            try:
                checked = self._download(plan, entry, part)
            except OSError:
                part.unlink(missing_ok=True)
                raise
            part.rename(target)
            keep(target.parent)
            return checked

    def _download(self, plan: _Plan, entry: Entry, part: Path) -> str:
        """Download all bytes of a file; returns how they were verified."""
        assert plan.source is not None
        store = plan.piece.location.store
        tag = entry.tag if plan.source.digests and store not in self._plain else ""
        checked = download(plan.source, entry, tag, part, self._stop, self._settings.pause)
        if checked == TWICE:
            self._plain.add(store)
        return checked

    def _settle(self, plan: _Plan) -> None:
        """Unpack archives, and move the piece to its place."""
        piece, staged = plan.piece, plan.work / "whole"
        target, mode = piece.target, ""
        single = [one.path for one in plan.entries] == [""]
        with room(self._folder.path / target):
            kind = form(staged, piece.archive) if single else "none"
            if kind != "none":
                target, mode = f"{piece.target}{_ENDINGS[kind]}", "packed"
                if self._settings.unpacked:
                    try:
                        staged = self._unpack(staged, plan.work / "unpacked", kind)
                        target, mode = piece.target, "unpacked"
                    except Unfit as unfit:
                        plan.trouble.append(unfit)
                        mode = self._refused
            made = content(staged)
        record: Json = {
            "step": piece.step.path,
            "output": piece.output,
            "target": target,
            "source": piece.location.said,
            "etag": plan.entries[0].tag if single else "",
            "version": plan.version,
            "digest": made.digest,
            "mode": mode,
            "checked": sorted({one for one in plan.checked.values() if one}),
            "refused": [reason for one in plan.trouble if isinstance(one, Unfit) for reason in one.reasons],
        }
        self._folder.put(staged, record)
        plan.known(record, made, new=True)
        with room(plan.work):
            shutil.rmtree(plan.work)

    def _unpack(self, staged: Path, folder: Path, kind: str) -> Path:
        """Unpack an archive; if that fails, nothing of it is left."""
        if folder.exists():
            shutil.rmtree(folder)
        try:
            return unpack(staged, folder, kind, self._settings.limits)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


class _Plan:
    """A piece during its download."""

    def __init__(self, piece: Piece) -> None:
        self.piece = piece
        self.lock = threading.Lock()
        self.source: Source | None = None
        self.version = ""
        self.entries: list[Entry] = []
        self.open: Sequence[int] = ()
        self.work = Path()
        self.left = 0
        self.checked: dict[int, str] = {}
        self.broken: FetchError | None = None
        self.trouble: list[FetchError] = []
        self.outcome: Outcome | None = None

    def staged(self, entry: Entry) -> Path:
        """The path at which a file is assembled with the others."""
        return self.work / "whole" / entry.path if entry.path else self.work / "whole"

    def known(self, record: Json, found: Content, *, new: bool = False) -> None:
        """Set the outcome: the piece is in its place."""
        trouble = self.trouble
        if not new:
            trouble = [Unfit(*record["refused"])] if record["refused"] else []
        self.outcome = Outcome(self.piece, record, found, tuple(trouble), new)

    def fail(self, error: FetchError) -> None:
        """Set the outcome: the piece has failed."""
        self.outcome = Outcome(self.piece, None, None, (error,))


def _apart(pieces: Sequence[Piece]) -> list[tuple[Piece, str]]:
    """The pieces, each with the reason why it conflicts with those before it."""
    names = Names()
    for one in (MANIFEST, WORK):
        names.add(one)
    return [(one, _clash(one, names)) for one in pieces]


def _clash(piece: Piece, names: Names) -> str:
    if any("/" in part for part in (*piece.step.folder, piece.output)):
        return "its name has a slash"
    return fault(piece.target) or names.add(piece.target)


def _version(entries: Sequence[Entry]) -> str:
    """A text that changes when any file of a piece does."""
    text = json.dumps([list(one) for one in entries], ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _kept(entries: Sequence[Entry], trouble: list[FetchError]) -> list[Entry]:
    """The files of a piece with valid names; for the others, what is wrong."""
    if [one.path for one in entries] == [""]:
        return list(entries)
    names = Names()
    kept: list[Entry] = []
    for one in entries:
        why = fault(one.path) or (link_fault(one.path, one.link) if one.link else "")
        why = why or names.add(one.path, "link" if one.link else "file")
        if why:
            trouble.append(Unfit(f"`{one.path}`: {why}"))
        else:
            kept.append(one)
    return kept
