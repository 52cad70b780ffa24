"""Regular expressions that are compiled on first use: most commands need few of those that modules define."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Regex:
    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        made = re.compile(self.pattern, self._flags)
        self.__dict__.update(
            {method: getattr(made, method) for method in dir(made) if not method.startswith("_")}
        )
        return getattr(made, name)


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A lazy `re.compile`, to be used by its methods. Raises `re.error` on first use."""
    return cast("re.Pattern[AnyStr]", _Regex(pattern, flags))
