"""How the files of outputs are packed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from flowdsl.artifact import Packed
from flowdsl.compiler.findings.data import UnknownArchive
from flowdsl.compiler.options.reading import Wrong, entries, is_mapping, said

if TYPE_CHECKING:
    from flowdsl.compiler.options.reading import Reader

PACKED: tuple[str, ...] = get_args(Packed)


def _archive(name: str, written: object) -> tuple[tuple[str, str | int], ...]:
    if not is_mapping(written):
        return (("", _packed(name, written, "value")),)

    def entry(output: Any, value: Any) -> tuple[str, str | int]:
        return str(output), _packed(f"{name}[{output!r}]", value, f"item:{output}")

    return tuple(entries(name, written, "a dict of ways to pack", entry))


def _packed(name: str, written: object, part: str) -> str | int:
    """A compression; a number is the level of gzip. Source: Argo 4.1, tar.compressionLevel; Go, compress/gzip."""
    if isinstance(written, str) and written in PACKED:
        return written
    if isinstance(written, int) and not isinstance(written, bool) and 0 <= written <= 9:
        return written
    raise Wrong(UnknownArchive(name, said(written), ", or a level of compression from 0 to 9"), part)


READERS: dict[str, Reader] = {"archive": _archive}
