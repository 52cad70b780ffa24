"""The command lines of shells: which of their words is the text that the shell runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SHELLS = ("sh", "bash", "ash", "dash", "zsh", "ksh")
"""The shells whose options are read."""
_OPERATORS = frozenset({">", ">>", "<", "2>", "2>&1", "|", "&&", "||", ";"})
"""What only a shell understands between words."""
_INTERPRETERS = frozenset((*SHELLS, "env", "node", "perl", "python", "ruby"))
_BEFORE = ("env", "busybox")  # programs that run the one named after them


def needs_shell(text: str) -> bool:
    """Whether a command line says something else if it is split at spaces: it has operators or quotes."""
    return not _OPERATORS.isdisjoint(text.split()) or not {"'", '"', "\\"}.isdisjoint(text)


def program(words: Sequence[str | None]) -> str:
    """The name of the program of a command line, without its folder."""
    return words[0].rpartition("/")[2] if words and words[0] is not None else ""


def program_at(words: Sequence[str | None]) -> int:
    """The place of the program that runs in the end."""
    return 1 if program(words) in _BEFORE else 0


def shell_text_at(words: Sequence[str | None]) -> int | None:
    """The place of the text that a shell runs: behind its options, one of which has `c`. None if there is none.

    A word that is not known is None. Source: POSIX, `sh`, and the manual of bash.
    """
    at, asked = program_at(words), False
    if program(words[at:]) not in SHELLS:
        return None
    at += 1
    while at < len(words) and (word := words[at]) is not None and word[:1] in ("-", "+"):
        at += 1
        if word in ("-", "--"):
            break
        if not word.startswith("--"):
            asked |= word[0] == "-" and "c" in word
            at += word.count("o") + word.count("O")  # each takes a word
    return at if asked and at < len(words) else None


def is_command_line(word: str) -> bool:
    """Whether a word is certainly a program with its arguments, and not the path of a file with spaces."""
    if "{{" in word or "\\" in word or len(word.split()) < 2:
        return False
    first, *rest = word.split()
    known = "/" not in first or program([first]).rstrip("0123456789.") in _INTERPRETERS
    return known or any(each.startswith("-") for each in rest)
