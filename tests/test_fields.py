"""Every field of Argo is written by a word or reached by `argo=`, and the page that says so is current."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from flowdsl.compiler.argo.origins import Origins
from flowdsl.compiler.argo.patch import Patcher
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.compiler.schema import check_schema
from flowdsl.compiler.schema.table import fields, is_type, kinds
from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.compiler.written_as import Kind
from flowdsl.places.place import Span
from tools.fields import LANGUAGE, PAGE, ROOTS, WHOLE, page, patch, paths, reach, written

PLACE = Span("pipeline.py", 1, 1, 1, 1)
BASE = """
from flowdsl import pipeline, step

@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)

@pipeline(schedule="@daily")
def nightly(table: str = "orders") -> None:
    load(table)
"""


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tools.fields"


def test_the_words_of_the_language_write_what_is_said() -> None:
    fields_written = set(written())
    assert set(LANGUAGE) <= fields_written
    assert set(WHOLE) <= {kind for kind, _ in fields_written}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """A pipeline as the object to which each kind of patch is applied."""
    file = tmp_path_factory.mktemp("fields") / "pipeline.py"
    file.write_text(BASE, encoding="utf-8")
    loaded: dict[Kind, dict[str, Any]] = {
        kind: compile_loaded(load(file), kind=kind).documents[0] for kind in ("workflow", "cron")
    }
    return {root: loaded["cron" if root == "cron" else "workflow"] for root in ROOTS}


def patched(document: dict[str, Any], root: str) -> dict[str, Any]:
    """The part of a document to which a patch is applied."""
    part: Any
    if root in ("pipeline", "cron"):
        part = document["spec"]
    elif root == "metadata":
        part = document["metadata"]
    elif root == "step":
        part = document["spec"]["templates"][1]
    else:
        part = document["spec"]["templates"][0]["dag"]["tasks"][0]
    assert is_mapping(part)
    return part


def of_documents() -> list[str]:
    """The types of documents, without those of texts that are parsed in turn."""
    found = [*kinds()]
    for kind in found:  # grows during the iteration
        inner = (expression.rpartition(":")[2] for expression in fields(kind).values())
        found += dict.fromkeys(each for each in inner if is_type(each) and each not in found)
    return found


def test_a_patch_reaches_every_field(documents: dict[str, dict[str, Any]]) -> None:
    ways, fixed = paths(), written()
    reached = 0
    for kind in of_documents():
        for field in fields(kind):
            if kind in kinds():
                continue  # the object itself: its name and spec are what is patched, its status is Argo's
            way = reach(kind, field, ways)
            if way is None:
                assert (kind, field) in fixed, f"{kind}.{field}"
                continue
            root, path = way
            document = copy.deepcopy(documents[root])
            patcher = Patcher(Origins())
            made = patch(root, path)
            patcher.merge(patched(document, root), made, ROOTS[root], PLACE)
            assert patcher.refused == [], (root, path)
            assert [one.finding.message for one in check_schema(document)] == [], (root, path, made)
            assert put(patched(document, root), made), (root, path, made)
            reached += 1
    assert reached > 900


def put(found: Any, wanted: Any) -> bool:
    """Whether a value contains all of a patch."""
    if is_mapping(wanted):
        return is_mapping(found) and all(key in found and put(found[key], one) for key, one in wanted.items())
    if is_list(wanted):
        return is_list(found) and all(any(put(one, each) for one in found) for each in wanted)
    return bool(found == wanted)
