"""Downloads one file: resumes where an earlier attempt ended, and verifies it by its store's checksum."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from flowdsl.runtime.artifacts.disk import Digest, write_all
from flowdsl.runtime.artifacts.sources import BLOCK
from flowdsl.runtime.artifacts.trouble import Broken, Changed, Stopped

if TYPE_CHECKING:
    import threading
    from pathlib import Path

    from flowdsl.runtime.artifacts.sources import Entry, Source

TWICE = "twice"
"""Verified by a second download: the ETag is not a digest here."""
_TRIES = 4
"""The most consecutive interruptions without a byte of progress."""


def download(source: Source, entry: Entry, tag: str, part: Path, stop: threading.Event, pause: float) -> str:
    """Download a file to a path; returns how it was verified: by `etag`, `twice` or `size`.

    `tag`: an ETag that may be a digest. `pause`: seconds before a store that broke off is asked again, increasing
    each time. Raises Broken, Changed, Missing, StoreError, Stopped, and OSError of the file system.
    """
    seen = ""
    while True:
        digest = Digest(entry.size, tag)
        file = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            have = _resumed(file, entry.size, digest)
            _stream(source, entry, file, have, digest, stop, pause)
            os.fsync(file)
        finally:
            os.close(file)
        if digest.matches:
            return "etag"
        if not digest.exact:
            return "size"
        if seen == digest.sha256:
            return TWICE
        part.unlink()
        if seen:
            raise Broken("it came twice with different bytes, and neither has the digest that its store says")
        seen = digest.sha256


def _resumed(file: int, size: int, digest: Digest) -> int:
    """Add what an earlier attempt has left to the digest; returns its size."""
    if os.fstat(file).st_size > size:
        os.ftruncate(file, 0)
    have = 0
    while block := os.pread(file, BLOCK, have):
        digest.update(block)
        have += len(block)
    os.lseek(file, have, os.SEEK_SET)
    return have


def _stream(
    source: Source, entry: Entry, file: int, have: int, digest: Digest, stop: threading.Event, pause: float
) -> None:
    """Write the rest, resuming after each interruption, as long as there is progress."""
    tries = 0
    while have < entry.size:
        begun = have
        try:
            for block in source.read(entry, have):
                if stop.is_set():
                    raise Stopped("the fetch was stopped")
                have += len(block)
                if have > entry.size:
                    raise Changed("it is longer than its store said")
                write_all(file, block)
                digest.update(block)
            if have < entry.size:
                raise Broken("it ended before its end")
        except Broken as broken:
            tries = 1 if have > begun else tries + 1
            if tries >= _TRIES:
                raise
            if stop.wait(pause * tries):
                raise Stopped("the fetch was stopped") from broken
