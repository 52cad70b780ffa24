"""The words of a crawl, counted in a hundred shards by at most ten workers, and joined.

`plan` deals the files of a folder into shards when the pipeline runs, and each shard becomes a task. The
step that joins them gets their results as a list, in the order of the shards.
"""

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, fan_out, pipeline, step

CRAWL = Volume("crawl", mode="ReadOnlyMany")
PYTHON = "python:3.12-slim"


class Counted(NamedTuple):
    words: Path
    documents: int


class Vocabulary(NamedTuple):
    words: Path
    size: int
    documents: int


@step(image=PYTHON)
def plan(folder: Path, shards: int = 100) -> list[list[str]]:
    """The names of the files, dealt into shards; files that come later go to the same shards again."""
    names = sorted(path.name for path in folder.glob("*.txt"))
    return [names[start::shards] for start in range(min(shards, len(names)))]


@step(image=PYTHON, cpu=1, memory="2Gi", retries=2, timeout="1h")
def count(folder: Path, names: list[str]) -> Counted:
    """How often each word occurs in the files of one shard."""
    found: Counter[str] = Counter()
    for name in names:
        found.update((folder / name).read_text(encoding="utf-8").lower().split())
    words = Path("words.json")
    words.write_text(json.dumps(found), encoding="utf-8")
    return Counted(words, len(names))


@step(image=PYTHON, memory="8Gi")
def join(shards: list[Counted], least: int) -> Vocabulary:
    """The words that occur at least `least` times in all shards together, the commonest first."""
    found: Counter[str] = Counter()
    for shard in shards:
        counts: dict[str, int] = json.loads(shard.words.read_text(encoding="utf-8"))
        found.update(counts)
    kept = [word for word, times in found.most_common() if times >= least]
    words = Path("vocabulary.txt")
    words.write_text("".join(f"{word}\n" for word in kept), encoding="utf-8")
    return Vocabulary(words, len(kept), sum(shard.documents for shard in shards))


@pipeline
def vocabulary(least: int = 5) -> Vocabulary:
    folder = CRAWL / "2026/text"
    names = plan(folder)
    counted = fan_out(count, over={"names": names}, parallel=10, folder=folder)
    return join(counted, least)
