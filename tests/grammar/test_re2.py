"""Regular expressions as Go reads them; `re2.json` has what the package regexp of Go 1.26 said and found.

By the pattern: its error, or what all of it is that is found in each of the texts below that it matches.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flowdsl.grammar.re2 import RegexError, UnknownClass, matches, pattern_of

TEXTS = (
    "abc",
    "a\nab\n",
    "aab ab a",
    "\u00e9 k \u212a \u017f_1",
    "",
    "a.*b{,2} x",
    "\u0663 3 \u00a0",
    "ABC abc k",
    "\t\v\x1b !~\x7f",
)
CASES: dict[str, Any] = json.loads(Path(__file__).with_name("re2.json").read_text(encoding="utf-8"))


def found(pattern: str) -> object:
    try:
        all_of_it = {text: [match[0] for match in matches(pattern, text)] for text in TEXTS}
    except RegexError as error:
        return str(error)
    return {text: several for text, several in all_of_it.items() if several}


@pytest.mark.parametrize("pattern", CASES)
def test_patterns_find_what_go_finds(pattern: str) -> None:
    assert found(pattern) == CASES[pattern]


def test_scripts_are_not_known() -> None:
    with pytest.raises(UnknownClass):
        pattern_of(r"\p{Greek}")
