"""Whether the results of a step may come from an earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from flowdsl.cache import Cache
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.ir import Caching
from flowdsl.compiler.options.reading import Wrong, said, whole_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.options.reading import Reader


def settled(found: Mapping[str, Any]) -> Caching:
    """The caching that the options of a step result in."""
    caching: Caching = found.get("cache", Caching())
    return caching


def _cache(name: str, written: object) -> Caching:
    if isinstance(written, bool):
        written = Cache() if written else None
    if written is None:
        return Caching()
    if not isinstance(written, Cache):
        raise Wrong(OptionType(name, "True, False or Cache(...)", said(written)))
    salt = cast("object", written.salt)
    if not isinstance(salt, str):
        raise Wrong(OptionType("salt of Cache", "a string", said(salt)), "item:salt")
    return Caching(_age(written.max_age), salt)


def _age(written: object) -> str:
    """An age in Argo's format, in whole hours or seconds. Source: time.ParseDuration of Go, without days."""
    try:
        whole = whole_seconds("max_age", written)
    except Wrong as wrong:
        raise Wrong(wrong.finding, "item:max_age") from None
    return f"{whole // 3600}h" if whole % 3600 == 0 else f"{whole}s"


READERS: dict[str, Reader] = {"cache": _cache}
