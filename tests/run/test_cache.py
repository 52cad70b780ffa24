"""Results that are kept in the cache of the folder."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from flowdsl.runtime.local.caches import Caches
from flowdsl.runtime.local.controller.cache import Entry
from tests.commands import Result
from tests.run.files import rows

if TYPE_CHECKING:
    from collections.abc import Callable


CACHED = """\
from flowdsl import pipeline, step

@step(image="python:3.12-slim", cache=True)
def double(n: int) -> int:
    return 2 * n

@pipeline
def cached(n: int = 7) -> int:
    return double(n)
"""


def test_a_cache_that_is_damaged(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "cached.py").write_text(CACHED, encoding="utf-8")
    assert flowdsl("cached.py").code == 0
    [kept] = (folder / ".flowdsl/cache").glob("*.json")
    kept.write_text("{", encoding="utf-8")
    done = flowdsl("cached.py", "--name", "two")
    assert done.code == 2
    assert f"flowdsl: the cache {kept} cannot be read: " in done.err
    assert done.err.endswith("; delete it to start over\n")
    kept.unlink()
    assert flowdsl("cached.py", "--name", "two").code == 0


def test_a_cache_of_another_name_is_not_looked_at(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "cached.py").write_text(CACHED, encoding="utf-8")
    cache = folder / ".flowdsl/cache"
    cache.mkdir(parents=True)
    (cache / "a.json").write_text("{", encoding="utf-8")
    assert flowdsl("cached.py").code == 0


def test_what_waits_only_for_results_of_the_cache_runs(flowdsl: Callable[..., Result], folder: Path) -> None:
    """The first run finds nothing, and waits for attempts of its retried steps; the second has none of these."""
    (folder / "cached.py").write_text(
        (Path(__file__).parents[1] / "lowering/cached_retries.py").read_text("utf-8"), "utf-8"
    )
    for name in ("one", "two"):
        done = flowdsl("cached.py", "--name", name)
        assert done.code == 0
        assert "return  0.5" in done.out
        assert ("judged: from the cache" in done.err) == (name == "two")


def test_runs_that_add_to_a_cache_at_once(tmp_path: Path) -> None:
    def add(run: int) -> None:
        caches = Caches(tmp_path / "cache", tmp_path / str(run))
        for one in range(20):
            caches.keep([("models", f"{run}-{one}", Entry("node", {"result": str(one)}, 0.0))])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    named = {"memoize": {"cache": {"configMap": {"name": "models"}}}}
    [entries] = Caches(tmp_path / "cache", tmp_path).stored([named]).values()
    assert entries.keys() == {f"{run}-{one}" for run in range(8) for one in range(20)}


def test_a_file_out_of_the_cache_is_there_also_without_the_run_that_made_it(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "cached.py").write_text(
        """\
from pathlib import Path
from flowdsl import pipeline, step

@step(image="python:3.12-slim", cache=True)
def make(n: int) -> Path:
    Path("made").write_text(str(n))
    return Path("made")

@step(image="python:3.12-slim")
def show(made: Path) -> int:
    return int(made.read_text())

@pipeline
def cached() -> int:
    return show(make(7))
"""
    )
    assert flowdsl("cached.py", "--name", "one").code == 0
    (folder / ".flowdsl/runs/one").rename(folder / "elsewhere")
    done = flowdsl("cached.py", "--name", "two")
    assert done.code == 0
    assert "make: started" not in done.err
    assert ["return", "7"] in rows(done.out)
    shutil.rmtree(folder / ".flowdsl/cache/artifacts")
    done = flowdsl("cached.py", "--name", "three")
    assert done.code == 0
    assert "make: started" in done.err, "what it was is gone"


def test_none_for_a_file_is_told_apart_in_the_key_of_a_cached_step(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "cached.py").write_text(
        """\
from pathlib import Path
from flowdsl import pipeline, step

@step(image="python:3.12-slim")
def note(text: str) -> Path | None:
    if not text:
        return None
    Path("note").write_text(text)
    return Path("note")

@step(image="python:3.12-slim", cache=True)
def read(note: Path | None) -> str:
    return "none" if note is None else note.read_text()

@pipeline
def cached(text: str = "") -> str:
    return read(note(text))
"""
    )
    for text, said, started in (("", "none", True), ("a", "a", True), ("", "none", False)):
        done = flowdsl("cached.py", "-p", f"text={text}")
        assert (done.code, ["return", said] in rows(done.out)) == (0, True), done.err
        assert ("read: started" in done.err) is started
