from __future__ import annotations

import pytest

from flowdsl.grammar.toml import place

TEXT = """\
default = "lab"
[clusters.lab]
pools.old = { labels = { pool = "a}b", zone = "x" }, taints = ["a=b:NoSchedule"], gpus = 2 }
pools."new" = {labels={a="1"},more={b={c=1},d=2},gpus=3}
[clusters.lab.volumes]
data.claim = "nfs"
"""


@pytest.mark.parametrize(
    ("path", "line", "word"),
    [
        ("default", 1, "default"),
        ("clusters lab", 2, "clusters.lab"),
        ("clusters lab pools old", 3, "pools.old"),
        ("clusters lab pools old labels pool", 3, "pool"),
        ("clusters lab pools old labels zone", 3, "zone"),
        ("clusters lab pools old taints", 3, "taints"),
        ("clusters lab pools old gpus", 3, "gpus"),
        ("clusters lab pools old cpu", 3, "pools.old"),
        ("clusters lab pools new labels a", 4, "a"),
        ("clusters lab pools new more b c", 4, "c"),
        ("clusters lab pools new more d", 4, "d"),
        ("clusters lab pools new gpus", 4, "gpus"),
        ("clusters lab volumes data claim", 6, "data.claim"),
        ("nothing", 1, ""),
    ],
)
def test_the_place_of_a_key(path: str, line: int, word: str) -> None:
    found = place(TEXT, path.split())
    assert found.line == line
    assert TEXT.split("\n")[line - 1][found.column - 1 : found.end - 1] == word
