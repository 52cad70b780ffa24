"""What holds for all pods of a run, and what is left of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast, get_args

from flowdsl.compiler.findings.objects import UnknownWord
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.options.reading import (
    Wrong,
    annotation_texts,
    each,
    entries,
    flag,
    label_texts,
    object_name,
    one_of,
    said,
    whole,
    whole_seconds,
)
from flowdsl.options import PodGC

if TYPE_CHECKING:
    from flowdsl.compiler.options.reading import Reader

STRATEGIES: tuple[str, ...] = get_args(PodGC)
OUTCOMES = ("success", "failure")


def _ttl(name: str, written: Any) -> Mapping[str, int]:
    """The seconds that a run is kept, by its outcome."""
    if not isinstance(written, Mapping):
        return {"completion": whole_seconds(name, written)}
    given = cast("Mapping[object, object]", written)

    def entry(key: object, value: object) -> tuple[str, int]:
        if key not in OUTCOMES:
            raise Wrong(UnknownWord(f"a key of `{name}`", str(key), OUTCOMES), "key", (str(key),))
        try:
            return str(key), whole_seconds(name, value)
        except Wrong as wrong:
            raise Wrong(wrong.finding, path=(str(key),)) from None

    if not given:
        raise Wrong(OptionType(name, "a time, or a dict of times", said(given)))
    return dict(entries(name, given, "a dict of times", entry))


_secret = object_name("Secret")


def _secrets(name: str, written: object) -> tuple[str, ...]:
    if isinstance(written, str):
        return (_secret(name, written),)
    several = isinstance(written, (list, tuple))
    listed = cast("list[object]", written) if several else []
    if not listed:
        raise Wrong(OptionType(name, "the name of a Secret, or a list of names", said(written)))
    found = each(listed, lambda one: _secret(name, one))
    return tuple(dict.fromkeys(found))


def _user(name: str, written: object) -> int:
    return whole(name, written, 0, 2**31 - 1, want="the number of a user")


READERS: dict[str, Reader] = {
    "ttl": _ttl,
    "suspend": flag,
    "pod_labels": label_texts,
    "pod_annotations": annotation_texts,
    "image_pull_secrets": _secrets,
    "user": _user,
    "pod_gc": partial(one_of, words=STRATEGIES),
    "archive_logs": flag,
}
