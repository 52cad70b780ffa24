"""The caches of `memoize` on this machine: a file for each, in a folder that runs share."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.grammar.reason import reason
from flowdsl.runtime.atomic import write
from flowdsl.runtime.local.controller.cache import Entry
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.places import handed
from flowdsl.runtime.lock import take, wait_for
from flowdsl.runtime.parts import part

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path

Json = dict[str, Any]


class Caches:
    """The caches in a folder, for one run; without a folder there are none."""

    def __init__(self, folder: Path | None, run: Path) -> None:
        self._folder = folder
        self._run = run

    def stored(self, documents: Iterable[Json]) -> dict[str, dict[str, Entry]]:
        """The entries, by cache and key, that templates of the documents may look up, and whose files still exist.

        The files are made available to the run. Raises RunError for a cache that cannot be read.
        """
        folder = self._folder
        if folder is None or not folder.is_dir():
            return {}
        names = {name for document in documents for name in _named(document)}
        all_of_them = any("{{" in name for name in names)
        found: dict[str, dict[str, Entry]] = {}
        for path in sorted(folder.glob("*.json")):
            if all_of_them or path.stem in names:
                entries = {key: Entry(*one) for key, one in _read(path).items()}
                found[path.stem] = {
                    key: one for key, one in entries.items() if handed(one.outputs, folder, self._run)
                }
        return found

    def keep(self, added: list[tuple[str, str, Entry]]) -> None:
        """Add entries, each with its cache and key, merging with those that other runs add. Raises RunError."""
        folder = self._folder
        if folder is None:
            return
        added = [one for one in added if handed(one[2].outputs, self._run, folder)]
        for name in dict.fromkeys(name for name, _, _ in added):
            with _alone(folder):
                path = folder / f"{name}.json"
                entries = _read(path) | {key: list(one) for cache, key, one in added if cache == name}
                write(path, json.dumps(entries, ensure_ascii=False).encode("utf-8", "surrogatepass"))


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Lock the caches of a folder against other runs."""
    folder.mkdir(parents=True, exist_ok=True)
    file = os.open(folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if not take(file):
            wait_for(file)
        yield
    finally:
        os.close(file)


def _named(node: object) -> Iterator[str]:
    """The caches that templates name, including templates inside of tasks, and defaults."""
    if is_list(node):
        for item in node:
            yield from _named(item)
    elif is_mapping(node):
        memo = node.get("memoize")
        if is_mapping(memo):
            yield str(part(part(memo, "cache"), "configMap").get("name", ""))
        for value in node.values():
            yield from _named(value)


def _read(path: Path) -> dict[str, list[Any]]:
    """The entries of a cache; none if the file does not exist. Raises RunError."""
    try:
        found: dict[str, list[Any]] = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RunError(f"the cache {path} cannot be read: {reason(error)}; delete it to start over") from None
    return found
