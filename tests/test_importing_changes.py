"""What is changed in a manifest is changed in its pipeline, or said: `flowdsl import` drops nothing in silence."""

from __future__ import annotations

import copy
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from flowdsl.compiler.importing.importing import imported
from flowdsl.compiler.importing.older_versions import renew
from flowdsl.compiler.manifests import check_manifests, is_argo, manifests
from flowdsl.compiler.tree import is_list, is_mapping, pairs
from flowdsl.compiler.yaml.documents import read

CASES = sorted((Path(__file__).resolve().parent / "importing").glob("*.yaml"))
Place = tuple[int, tuple[Any, ...]]

#: Changes without effect, and why; by the name of a case and a path in it.
SILENT = {
    r"older \d+ (?:status|metadata uid|metadata resourceVersion|metadata creationTimestamp)\b.*": "of a cluster",
    r"older \d+ metadata (?:annotations|labels workflows[.]argoproj[.]io).*": "of a cluster, and of Argo",
    r"older .* parallelism": "zero is no limit",
    r"kfp .* ?metadata annotations\b.*": "of KFP, which has no use for the pipeline",
    r".* resources requests(?: memory)?": "the limit says the same",
    r"skipped 0 spec templates 0 steps 0 1 when": "it holds whatever the parameter is",
    r"kept .* withItems \d+": "nothing takes the item",
    r"(?:library 1 spec templates 1|referring 2 spec templates [12]) .*": "no run comes to it, which is said",
    r"(?:items 0 spec templates 2|tables 0 spec templates 4)\b.*": "no run comes to it",
    r".* outputs parameters 0 name": "an output that is the only one has no name",
    r"defaults 1 spec entrypoint": "it has one template, which is a function alone",
    r"texts 0 .* setOwnerReference": "it is false, as without it",
    r"amounts 0 .* defaultMode": "the modes are the usual ones",
    r"amounts 0 .* container name": "Argo has a name of its own for it",
    r"defaults 1 .* value": "it needs a run, whatever it is, which is said",
    r"amounts 0 spec volumes 0 secret defaultMode": "it is the default, 0644",
    r"described 1 spec suspend": "it is the default, false",
}


def _places(node: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if not (is_mapping(node) or is_list(node)):
        return []
    return [each for key, one in pairs(node) for each in ((*path, key), *_places(one, (*path, key)))]


@cache
def _documents(case: Path) -> list[Any]:
    return [*yaml.safe_load_all(case.read_text("utf-8"))]


@cache
def _written(case: Path) -> tuple[str, list[str]] | None:
    return _imported(_documents(case))


def _text(documents: list[Any]) -> str:
    return "\n---\n".join(map(json.dumps, documents))


def _imported(documents: list[Any]) -> tuple[str, list[str]] | None:
    """The Python text and the findings; None if there is no pipeline."""
    checked = copy.deepcopy(documents)
    for one in filter(is_argo, checked):
        renew(one)
    text = _text(checked)
    if any(one.finding.severity == "error" for one in check_manifests([manifests(text, "changed.yaml")])[0]):
        return None
    made = imported([part for one in read(_text(documents), "changed.yaml")[0] for part in one.listed])
    return (made.text, [one.finding.message for one in made.diagnostics]) if made.text else None


def _changed(documents: list[Any], place: Place, *, away: bool) -> list[Any] | None:
    """Changed documents; None if there is nothing at the place that can be changed."""
    made = copy.deepcopy(documents)
    holder: Any = made[place[0]]
    for step in place[1][:-1]:
        holder = holder[step]
    last = place[1][-1]
    was = holder[last]
    if away:
        del holder[last]
    elif isinstance(was, bool):
        holder[last] = not was
    elif isinstance(was, int | float):
        holder[last] = was + 7
    elif isinstance(was, str):
        holder[last] = f"{was}zq"
    else:
        return None
    return made


PLACES = [
    (case, (index, path))
    for case in CASES
    for index, document in enumerate(_documents(case))
    if is_argo(document)
    for path in _places(document)
    if len(path) > 1
]


@settings(max_examples=500)
@given(st.sampled_from(PLACES), st.booleans())
def test_what_is_changed_in_a_manifest_is_changed_in_its_pipeline(at: tuple[Path, Place], away: bool) -> None:
    case, place = at
    before, documents = _written(case), _changed(_documents(case), place, away=away)
    shown = " ".join(map(str, (case.stem, place[0], *place[1])))
    if before is None or documents is None or any(re.fullmatch(silent, shown) for silent in SILENT):
        return
    assert _imported(documents) != before, shown
