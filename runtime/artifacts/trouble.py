"""Errors of a fetch. The text of each is one line; names in it may hold any character."""

from __future__ import annotations

from typing import ClassVar


class FetchError(Exception):
    """Something could not be fetched. `kind`: the word for that in `run.json`."""

    kind: ClassVar[str] = "other"


class Missing(FetchError):
    """There is nothing at the location."""

    kind = "missing"


class Unfit(FetchError):
    """It breaks a rule, so that it is not put into the folder. `reasons`: one for each part that does."""

    kind = "unfit"

    def __init__(self, *reasons: str) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


class Changed(FetchError):
    """The content of the location has changed during the download."""

    kind = "changed"


class StoreError(FetchError):
    """A store, or the cluster, refused or gave no usable response. `store`: which one, if all of it is affected."""

    kind = "store"

    def __init__(self, text: str, store: str = "") -> None:
        super().__init__(text)
        self.store = store


class Broken(StoreError):
    """A response broke off; the rest can be requested again."""

    kind = "broken off"


class Stopped(FetchError):
    """The caller has cancelled the download."""

    kind = "stopped"


class NoRoom(FetchError):
    """The disk, or the quota, is full."""

    kind = "no room"


class NotOurs(FetchError):
    """The folder contains something that no fetch of this run has put there."""

    kind = "not ours"
