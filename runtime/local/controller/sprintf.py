"""Go's fmt.Sprintf with a format and one integer, including its output for wrong formats.

Source: fmt/print.go and fmt/format.go of Go 1.25.
"""

from __future__ import annotations

import re

from flowdsl.compiler.evaluation.go_quote import quoted_rune
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

_VERB = regex(
    r"%(?P<flags>[-+# 0]*)(?P<first>\[[^\]]*\])?(?P<width>[0-9]*)(?:\.(?P<precision>[0-9]*))?"
    r"(?P<index>\[[^\]]*\])?(?P<verb>.?)",
    re.DOTALL,
)
_BASES = {"b": 2, "o": 8, "O": 8, "x": 16, "X": 16, "d": 10, "v": 10}
_PREFIXES = {"b": "0b", "x": "0x", "X": "0X"}


class _Form(NamedTuple):
    """What stands between `%` and the verb."""

    flags: str
    width: int
    precision: int | None


def sprintf(form: str, number: int) -> str:
    """Format a number with a format string."""
    taken = 0
    reordered = False

    def put(found: re.Match[str]) -> str:
        nonlocal taken, reordered
        verb = found["verb"]
        index = found["index"] or found["first"]
        if index is not None:
            reordered = True
            if index != "[1]" and verb:
                return f"%!{verb}(BADINDEX)"
            taken = 0
        if not verb:
            return "%!(NOVERB)"
        if verb == "%":
            return "%"
        if taken:
            return f"%!{verb}(MISSING)"
        taken = 1
        precision = found["precision"]
        made = _Form(
            found["flags"],
            int(found["width"] or 0),
            None if precision is None else int(precision or 0),
        )
        return _shown(made, verb, number)

    text = _VERB.sub(put, form)
    return text if taken or reordered else f"{text}%!(EXTRA int={number})"


def _shown(form: _Form, verb: str, number: int) -> str:
    """The number as a verb formats it (printArg, fmtInteger)."""
    if verb == "T":
        return _padded(form, "int")
    if verb in ("c", "q"):
        sign = chr(number) if 0 <= number <= 0x10FFFF and not 0xD800 <= number < 0xE000 else "\ufffd"
        return _padded(form, sign if verb == "c" else quoted_rune(sign, ascii_only="+" in form.flags))
    if verb == "U":
        sign = (
            f" '{chr(number)}'"
            if "#" in form.flags and 0 <= number <= 0x10FFFF and chr(number).isprintable()
            else ""
        )
        return _padded(form, f"U+{number % (1 << 64):0{max(form.precision or 0, 4)}X}{sign}")
    if verb not in _BASES:
        return f"%!{verb}(int={_whole(form, 'v', number)})"
    return _whole(form, verb, number)


def _whole(form: _Form, verb: str, number: int) -> str:
    """A number in the base of its verb (fmtInteger)."""
    flags = form.flags.replace("+", "").replace("#", "") if verb == "v" else form.flags
    if form.precision == 0 and not number:
        return " " * form.width
    sign = "-" if number < 0 else "+" if "+" in flags else " " if " " in flags else ""
    least = form.precision or 0
    if form.precision is None and "0" in flags and "-" not in flags:
        least = form.width - len(sign)
    digits = _digits(abs(number), _BASES[verb]).rjust(least, "0")
    if verb == "X":
        digits = digits.upper()
    if "#" in flags:
        digits = f"0{digits}" if verb in "oO" and digits[0] != "0" else f"{_PREFIXES.get(verb, '')}{digits}"
    text = f"{sign}{'0o' if verb == 'O' else ''}{digits}"
    return text.ljust(form.width) if "-" in flags else text.rjust(form.width)


def _digits(number: int, base: int) -> str:
    return format(number, {2: "b", 8: "o", 10: "d", 16: "x"}[base])


def _padded(form: _Form, text: str) -> str:
    """A text padded to its width, with zeros if the flag is set (pad)."""
    if "-" in form.flags:
        return text.ljust(form.width)
    return text.rjust(form.width, "0" if "0" in form.flags else " ")
