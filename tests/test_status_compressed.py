"""Nodes that the controller has packed are read, or it is said why not; never is a run without its steps."""

from __future__ import annotations

import base64
import gzip
import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.runtime.cluster.trouble import ClusterError, Unreadable, Unsupported
from flowdsl.runtime.status.compressed import LARGEST, opened

Json = dict[str, Any]

NODES = {
    f"run-{at}": {"id": f"run-{at}", "name": f"run.train({at}:lr:0.{at})", "type": "Pod"} for at in range(60)
}
brotli: Any = import_module("brotli")  # it has no types
WAYS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
    "brotli": brotli.compress,
}
each_way = pytest.mark.parametrize("way", WAYS)


def packed(data: bytes | str) -> Json:
    text = data if isinstance(data, str) else base64.b64encode(data).decode()
    status = {"phase": "Running", "compressedNodes": text}
    return {"metadata": {"name": "run"}, "spec": {}, "status": status}


def refused(workflow: Json) -> str:
    with pytest.raises(ClusterError) as caught:
        opened(workflow)
    assert "\n" not in str(caught.value)
    return f"{type(caught.value).__name__}: {caught.value}"


def text(way: str = "gzip") -> bytes:
    return WAYS[way](json.dumps(NODES).encode())


@each_way
def test_nodes_are_unpacked_and_the_object_is_left_as_it_was(way: str) -> None:
    workflow = packed(text(way))
    before = json.dumps(workflow)
    found = opened(workflow)
    assert found["status"] == {"phase": "Running", "nodes": NODES}
    assert json.dumps(workflow) == before


@pytest.mark.parametrize("status", [{}, {"nodes": NODES}, {"nodes": NODES, "offloadNodeStatusVersion": "1"}])
def test_what_can_be_read_is_the_same_object(status: Json) -> None:
    workflow = {"metadata": {"name": "run"}, "status": status}
    assert opened(workflow) is workflow


def test_a_run_that_has_not_begun_can_be_read() -> None:
    workflow: Json = {"metadata": {"name": "run"}}
    assert opened(workflow) is workflow


@given(st.sampled_from(sorted(WAYS)), st.data())
def test_what_is_cut_short_is_refused(way: str, data: st.DataObject) -> None:
    whole = text(way)
    end = data.draw(st.integers(1, len(whole) - 1))
    with pytest.raises(Unreadable):
        opened(packed(whole[:end]))


@given(st.sampled_from(["gzip", "zstd"]), st.data())
def test_a_flipped_bit_never_changes_the_nodes(way: str, data: st.DataObject) -> None:
    """Both formats have a checksum."""
    broken = bytearray(text(way))
    at = data.draw(st.integers(0, 8 * len(broken) - 1))
    broken[at // 8] ^= 1 << at % 8
    try:
        found = opened(packed(bytes(broken)))
    except Unreadable:
        return
    assert found["status"]["nodes"] == NODES


@given(st.data())
def test_a_flipped_bit_of_brotli_gives_nodes_or_an_error(data: st.DataObject) -> None:
    broken = bytearray(text("brotli"))
    at = data.draw(st.integers(0, 8 * len(broken) - 1))
    broken[at // 8] ^= 1 << at % 8
    try:
        nodes = opened(packed(bytes(broken)))["status"]["nodes"]
    except Unreadable:
        return
    assert all(isinstance(one, dict) for one in nodes.values())


@given(st.binary(min_size=1) | st.text(min_size=1))
def test_anything_else_is_one_error(data: bytes | str) -> None:
    assert refused(packed(data)).startswith("Unreadable: the nodes of run `run` cannot be read: ")


@pytest.mark.parametrize("way", ["gzip", "zstd"])
def test_what_follows_the_end_is_no_part_of_it(way: str) -> None:
    assert refused(packed(text(way) + b"x")).endswith("more follows after their end")


@each_way
def test_what_unpacks_to_too_much_is_refused(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowdsl.runtime.status.compressed.LARGEST", 1 << 20)
    said = "Unreadable: the nodes of run `run` cannot be read: unpacked they are larger than 1 MiB"
    assert refused(packed(WAYS[way](b" " * (1 << 26)))) == said
    assert LARGEST == 256 << 20


@each_way
@pytest.mark.parametrize("content", ["", "[]", "{", "3", '{"a": 1}', "[" * 100_000])
def test_what_is_no_mapping_of_nodes_is_refused(way: str, content: str) -> None:
    assert refused(packed(WAYS[way](content.encode()))).startswith("Unreadable: ")


@pytest.mark.parametrize(("package", "way"), [("zstandard", "zstd"), ("brotli", "brotli")])
def test_a_package_that_is_missing_is_named(package: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert refused(packed(text(way))) == (
        f"Unsupported: the nodes of run `run` are packed with {way}: pip install 'flowdsl[codecs]' to read them"
    )


def test_what_is_in_the_database_is_said_to_be_there() -> None:
    workflow = {
        "metadata": {"name": "run"},
        "status": {"phase": "Running", "offloadNodeStatusVersion": "fnv:1"},
    }
    with pytest.raises(Unsupported, match="database, where only Argo's server reads them: argo get run"):
        opened(workflow)


def test_text_that_is_no_text_is_refused() -> None:
    workflow = {"metadata": {"name": "run"}, "status": {"compressedNodes": 3}}
    assert refused(workflow).endswith("status.compressedNodes is no text")
