"""What Argo's own examples need of a cluster, and that what they make themselves is not asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from flowdsl.compiler.schema import kinds
from flowdsl.runtime.needs import missing
from tests.corpus import corpus
from tests.standing import Standing

Json = dict[str, Any]

WANTED = {
    "volumes-existing": ["PersistentVolumeClaim `my-existing-volume`"],
    "synchronization-tmpl-level": ["ConfigMap `my-config`"],
    "arguments-parameters-from-configmap": ["ConfigMap `simple-parameters`"],
    "output-artifact-azure": ["Secret `my-azure-credentials`"],
    "volumes-pvc": [],
}
"""What some of them name."""


def documents(path: Path) -> list[Json]:
    found: list[Json] = [one for one in yaml.safe_load_all(path.read_text("utf-8")) if isinstance(one, dict)]
    return [one for one in found if one.get("kind") in kinds()]


@pytest.mark.parametrize("path", sorted(corpus("argo", "examples").rglob("*.yaml")), ids=lambda one: one.stem)
def test_every_example_is_read(path: Path) -> None:
    these = documents(path)
    for document in these:
        found = missing(Standing(), document, these)
        assert all(one.text and one.remedy for one in found)
        if path.stem in WANTED:
            for words in WANTED[path.stem]:
                assert any(words in one.text for one in found)
            assert len(found) == len(WANTED[path.stem])
