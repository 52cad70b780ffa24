"""Reads the nodes of a run that the controller has compressed, and compresses them again.

Source: Argo 4.1, workflow/packer/packer.go, workflow/hydrator and util/file/fileutil.go: above 1 MiB the nodes are
moved to `status.compressedNodes`, as base64 of gzip, zstd or brotli; if that is still too large, to a database.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from flowdsl.runtime.cluster.trouble import Unreadable, Unsupported
from flowdsl.runtime.parts import name_of, part

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

LARGEST = 256 << 20
"""The most bytes of decompressed nodes: 800,000 nodes of the usual size."""
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_NODES = ("nodes", "compressedNodes")
_PIECE = 1 << 10
"""Bytes that are decompressed at a time: a zstd block of at least 4 bytes expands to at most 128 KiB."""
_STEP = 1 << 20


class _Broken(Exception):
    """Damaged data; the text says how."""


def opened(workflow: Json) -> Json:
    """A Workflow with readable nodes; the same object if they were readable.

    Raises Unreadable for compressed nodes that are damaged, too large or in an unknown format, and Unsupported if a
    package is missing here, or the nodes are not in the object at all.
    """
    status = part(workflow, "status")
    packed = status.get("compressedNodes")
    name = name_of(workflow)
    if packed:
        try:
            nodes = _nodes(_unpacked(_decoded(packed), name))
        except _Broken as broken:
            raise Unreadable(f"the nodes of run `{name}` cannot be read: {broken}") from None
        kept = {key: value for key, value in status.items() if key != "compressedNodes"}
        return {**workflow, "status": {**kept, "nodes": nodes}}
    if status.get("offloadNodeStatusVersion") and not status.get("nodes"):
        raise Unsupported(
            f"the nodes of run `{name}` are in the controller's database, where only Argo's server reads them: "
            f"argo get {name} --argo-server HOST:PORT"
        )
    return workflow


def without_nodes(workflow: Json) -> Json:
    """A Workflow without its nodes, the largest part of it."""
    status = part(workflow, "status")
    return {**workflow, "status": {key: one for key, one in status.items() if key not in _NODES}}


def readable(workflow: Json) -> Json:
    """A Workflow with readable nodes, or unchanged if they cannot be read: `hidden` says why."""
    try:
        return opened(workflow)
    except (Unreadable, Unsupported):
        return workflow


def hidden(workflow: Json) -> str:
    """Why the nodes of a Workflow cannot be read; empty if they can."""
    try:
        opened(workflow)
    except (Unreadable, Unsupported) as error:
        return str(error)
    return ""


def _decoded(packed: object) -> bytes:
    if not isinstance(packed, str):
        raise _Broken("status.compressedNodes is no text")
    try:
        return base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError):
        raise _Broken("status.compressedNodes is not base64") from None


def _unpacked(data: bytes, name: str) -> bytes:
    """Decompresses data. The first bytes tell the format, except for brotli, which has no such mark."""
    if data.startswith(_GZIP):
        pieces = _gzip(data)
    elif data.startswith(_ZSTD):
        pieces = _zstd(data, _decoder("zstandard", "zstd", name))
    else:
        pieces = _brotli(data, _decoder("brotli", "brotli", name))
    found: list[bytes] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > LARGEST:
            raise _Broken(f"unpacked they are larger than {LARGEST >> 20} MiB")
        found.append(piece)
    return b"".join(found)


def _decoder(package: str, algorithm: str, name: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise Unsupported(
            f"the nodes of run `{name}` are packed with {algorithm}: pip install 'flowdsl[codecs]' to read them"
        ) from None


def _gzip(data: bytes) -> Iterator[bytes]:
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        while not unpack.eof:
            piece = unpack.decompress(data, _STEP)
            data = unpack.unconsumed_tail
            if not piece and not data and not unpack.eof:
                raise _Broken("they are cut short")
            yield piece
    except zlib.error:
        raise _Broken("they are no whole gzip") from None
    _whole(unpack.unused_data)


def _zstd(data: bytes, zstandard: Any) -> Iterator[bytes]:
    unpack = zstandard.ZstdDecompressor().decompressobj()
    at = 0
    try:
        while not unpack.eof:
            if at >= len(data):
                raise _Broken("they are cut short")
            yield unpack.decompress(data[at : at + _PIECE])
            at += _PIECE
    except zstandard.ZstdError:
        raise _Broken("they are no whole zstd") from None
    _whole(unpack.unused_data + data[at:])


def _brotli(data: bytes, brotli: Any) -> Iterator[bytes]:
    unpack = brotli.Decompressor()
    try:
        while not unpack.is_finished():
            piece = unpack.process(data, output_buffer_limit=_STEP)
            if not piece and not data and not unpack.is_finished():
                raise _Broken("they are cut short, or packed with none of gzip, zstd and brotli")
            data = b""
            yield piece
    except brotli.error:
        raise _Broken("they are packed with none of gzip, zstd and brotli") from None


def _whole(rest: bytes) -> None:
    if rest:
        raise _Broken("more follows after their end")


def _nodes(data: bytes) -> Json:
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        raise _Broken("unpacked they are no JSON") from None
    if not isinstance(found, dict):
        raise _Broken("unpacked they are no mapping of nodes")
    nodes = cast("Json", found)
    if not all(isinstance(one, dict) for one in nodes.values()):
        raise _Broken("unpacked they are no mapping of nodes")
    return nodes


def packed(workflow: Json) -> Json:
    """A workflow with its nodes compressed; everything else is shared with the given one."""
    status: Json = dict(workflow["status"])
    text = json.dumps(status.pop("nodes", {}), ensure_ascii=False, separators=(",", ":"))
    status["compressedNodes"] = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return {**workflow, "status": status}
