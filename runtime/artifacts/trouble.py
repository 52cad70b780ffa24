"""Errors of a fetch. The text of each is one line; names in it may hold any character."""

from __future__ import annotations

from typing import ClassVar


class FetchError(Exception):
    """Something that was to be fetched, and was not. `kind`: the word for that in `run.json`."""

    kind: ClassVar[str] = "other"


class Missing(FetchError):
    """There is nothing at its place."""

    kind = "missing"


class Unfit(FetchError):
    """It breaks a rule, so it is not put into the folder. `reasons`: one for each part that does."""

    kind = "unfit"

    def __init__(self, *reasons: str) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


class Changed(FetchError):
    """What is at its place has changed while it was read."""

    kind = "changed"


class StoreError(FetchError):
    """A store, or the cluster, that refused or gave no usable answer. `store`: which one, where all of it is meant."""

    kind = "store"

    def __init__(self, text: str, store: str = "") -> None:
        super().__init__(text)
        self.store = store


class Broken(StoreError):
    """An answer that broke off: what comes after it may be asked for again."""

    kind = "broken off"


class Stopped(FetchError):
    """Whoever asked for it wants no more."""

    kind = "stopped"


class NoRoom(FetchError):
    """The file system takes no more."""

    kind = "no room"


class NotOurs(FetchError):
    """The folder holds something that no fetch of this run has put there."""

    kind = "not ours"
