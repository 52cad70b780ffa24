"""`Cache`: when the result of a step may be taken from an earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.places.place import Site, here

if TYPE_CHECKING:
    from flowdsl.duration import Duration


class Cache:
    """How long a result is kept, and what else it depends on: `cache=Cache(max_age="30d", salt="2024-06")`.

    `max_age`: a duration such as `"12h"`, `"7d"`, `"2w"`, or a timedelta; older results are computed again.
    `salt`: a text that stands for what the key of the result cannot see; with another text, earlier results
    are not used. Stored as written.
    """

    __slots__ = ("max_age", "salt", "site")

    def __init__(self, max_age: Duration = "7d", salt: str = "") -> None:
        self.max_age = max_age
        self.salt = salt
        self.site: Site = here()

    def __repr__(self) -> str:
        return f"Cache(max_age={self.max_age!r}, salt={self.salt!r})"
