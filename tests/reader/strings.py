"""Strings that YAML readers are known to change, and generators of more of them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# fmt: off
WORDS = [
    "y", "Y", "n", "N", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "true",
    "True", "TRUE", "false", "False", "FALSE", "tRuE", "null", "Null", "NULL", "nUll", "~", "nil", "None",
    "none", "nan", "NaN", "NAN", ".nan", ".NaN", ".NAN", "inf", "Inf", "INF", ".inf", ".Inf", ".INF",
    "+.inf", "-.inf", "-.Inf", "-inf", "+inf", "-nan", "infinity", "Infinity", "-Infinity", "undefined",
]
NUMBERS = [
    "0", "1", "-1", "+1", "-0", "007", "08", "09", "0o17", "0O17", "0x1f", "0X1F", "0b1", "0B10", "-0b11",
    "1_000", "1_", "_1", "_", "__", "0_0", "1e3", "1E3", "1e-5", "1e+5", "12e03", "1.e3", "1.0e3", ".5",
    "5.", "-.5", "+.5", ".", "..", "1.5", "-1.5", "1.5.2", "e5", "E5", "1e", "1d", "1f", "1L", "1k", "5E",
    "1Ki", "32Gi", "500m", "90s", "0Gi", "01m", "1h30m", "10%", "1,000", "1 000", "0x", "0o", "0b", "0xg",
    "12:30:45", "12:30", "1:2", "-1:30", "190:20:30", "190:20:30.15", "2026-11-21", "2026-1-2", "2026-11",
    "2026-11-21T10:00:00Z", "2026-11-21 10:00:00", "2026-11-21t10:00:00.5-05:00", "9223372036854775807",
    "9223372036854775808", "18446744073709551616", "1" * 40, "0.1" + "0" * 40 + "1", "1e400", "-1e400",
]
MARKS = [
    "=", "<<", "<", ">", "|", "|-", "|+", ">-", "|2", "?", "? a", ":", ": a", "a:", "a: b", "a :b", "a : b",
    "::", "a::b", "a:b", "a:b:", "-", "- a", "-a", "--", "---", "--- a", "--a", "---a", "...", "... a", "#",
    "#a", "a #b", "a#b", "a # b", " #", "%", "%TAG", "%YAML 1.1", "@", "@x", "`", "`x`", "!", "!tag",
    "!!str", "!!str x", "!<tag>", "&", "&a", "&a b", "*", "*a", "a*", "a *b", "a &b", "a && b", "a || !b",
    "(a)", "a (b)", "{", "}", "[", "]", "{}", "[]", "{a: b}", "[a, b]", "a{b}", "a[0]", ",", "a,b", "a, b",
    "{{inputs.x}}", "{{=a > b}}", "x {{y}} z", "${HOME}", "$(HOME)", "$HOME", "$$", "'", '"', "''", '""',
    "'a'", '"a"', "it's", 'say "a"', "\\", "\\n", "a\\", "a\\b", "\\u0041", "\\x41", '\\"', "C:\\x", "c:/x",
    "/", "/a", "//", "a/", "~/x", "~a", "a~", "a?b", "a? b", "a ?b", "a|b", "a | b", "a |", "a >", "a > b",
    "a -b", "a - b", "a -", "python:3.12-slim", "a.b/c:1@sha256:00ff", "http://a.b/c?d=e&f=g#h", "a@b.c",
    "--lr=0.1", "-c", "-y", "-n", "--y", "-1a", "--1", "-_a", "_a", "__init__", "nvidia.com/gpu", "a.b-c_d",
    "a=b", "=a", "train.Succeeded && (a.Failed || b.Errored)", "p['x']", "*.txt", "a;b",
]
SPACES = [
    "", " ", "  ", " a", "a ", " a ", "a  b", "\t", "\ta", "a\t", "a\tb", "\n", "\n\n", "\na", "a\n",
    "a\n\n", "a\nb", "\n\na\nb", "\n a\nb", "a\nb\n", "a\nb\n\n", "a\nb\n\n\n", "a\n\nb", "a\n\n\n\nb\n",
    "a\n b\n", " a\nb", "  a\n b\n", "a \nb", "a\nb ", "a\nb \n", "a\n \nb", "a\n\t\nb", "a\n\tb\n",
    "\ta\nb", "a\tb\nc\n", "a\n  b\n   c", "a\nb\n ", "\n \na", " \na\nb", "a\r\nb\r\n", "a\rb", "\r",
    "\r\n", "a\nb\r", "a\n---\nb\n", "---\na\n", "...\na\n", "a\n...\n", "# a\nb\n", "a\n# b\n",
    "a: b\nc: d\n", "- a\n- b\n", "%a\nb\n", "|\na\n", "a\n\n# b\n", "'\n'", '"\n"', "a\\\nb\n",
]
CHARACTERS = [
    "\x00", "a\x00b", "\x01", "\x07", "\x08", "\x0b", "\x0c", "\x1b[0m", "\x1f", "\x7f", "1\x7f", "\x80",
    "\x85", "\x9f", "a\x85b", "\xa0", "a\xa0b", "\xad", "é", "É:é", "ä b", "ÿ", "\u200b", "a\u200bb",
    "\u200c", "\u200d", "\u200e", "\u200f", "\u2028", "a\u2028b", "\u2029", "\u202a", "\u202e", "\u2060",
    "\u2066", "\u3000", "\ud7ff", "\ue000", "\ufdd0", "\ufeff", "\ufeffa", "a\ufeff", "\ufff9", "\ufffd",
    "\ufffe", "\uffff", "\u20ac", "日本語", "\U00010000", "\U0001f600", "a\U0001f600", "\U0001f1e9\U0001f1ea",
    "\U0001f468\u200d\U0001f469", "\u2764\ufe0f", "\U0010ffff", "\U0001f3f4\U000e0067\U000e0062\U000e007f",
    "\U000e0100", "\U0001fffe", "a\nb\u2028c\n", "é\nb\n", "a\n\x00\n", "a\n\u202e\n", "a\n\U0001f600\n",
    "\U0001f600\nb", "a\n\xa0\nb", "\xa0\na\n", "a\u3000\nb\n", "\u0661\u0662", "\uff11", "\uff59", "\u017f",
    "\u0131", "\u212a", "e\u0301", "\u0301", "ok\ufeff\nb\n", "x" * 2000, "x " * 600 + "x", "1" * 1100,
    "é" * 500,
]
# fmt: on
NASTY = list(dict.fromkeys([*WORDS, *NUMBERS, *MARKS, *SPACES, *CHARACTERS]))

# Latin letters and controls, spaces and marks of direction, forms and non-characters, flags, tags.
CODES = [*range(0x250), *range(0x2000, 0x2070), *range(0xFEF0, 0xFFFF), *range(0x1F1E6, 0x1F200), 0xE0067]
PIECES = [
    "a",
    "b c",
    "1",
    "# d",
    "- e",
    "f: g",
    "{{h}}",
    "'",
    '"',
    "\\",
    "---",
    "|",
    "é",
    "\t",
    " ",
    "  ",
    "",
    "",
]


def generated(count: int, seed: int) -> list[str]:
    """Different strings in the shapes that readers change; the same ones for the same seed."""
    draw = random.Random(seed)

    def some(alphabet: str, longest: int) -> str:
        return "".join(draw.choices(alphabet, k=draw.randint(1, longest)))

    shapes: list[Callable[[], str]] = [
        lambda: some("0123456789", 3) + some("0123456789eE.+-_:xobXOBT", 6),
        lambda: some("+-.0_~1ainfyInNyY", 5),
        lambda: draw.choice("+-._ ~=<") + draw.choice(NUMBERS),
        lambda: (
            "".join(draw.choice((c.lower(), c.upper())) for c in draw.choice(WORDS))
            + draw.choice(("", "", " ", ":", "."))
        ),
        lambda: some("aby01-./_:", 8),
        lambda: some("ab10 :-#&*!|>'\"%@`,[]{}?\\$()=~<^;+/._", 8),
        lambda: " ".join(draw.choice(MARKS) for _ in range(draw.randint(2, 4))),
        lambda: "\n".join(draw.choice(PIECES) for _ in range(draw.randint(2, 6))),
        lambda: "\n" * draw.randint(0, 2) + "\n".join(draw.choices(MARKS, k=3)) + "\n" * draw.randint(0, 3),
        lambda: "".join(chr(draw.choice(CODES)) for _ in range(draw.randint(1, 6))),
        lambda: draw.choice(NASTY) + draw.choice(NASTY),
    ]

    found: dict[str, None] = {}
    while len(found) < count:
        found.update((shape(), None) for shape in shapes)
    return list(found)[:count]


def everywhere(strings: list[str]) -> dict[str, Any]:
    """Each string as a value, an item, a value and a key in one line, in a table, and as a key."""
    short = [value for value in strings if len(value) < 100]
    return {
        "values": {f"k{index:06}": value for index, value in enumerate(strings)},
        "items": strings,
        "rows": [{"name": value, "value": index, value: value} for index, value in enumerate(short)],
        "table": [{"name": value} for value in strings if "\n" not in value and len(value) < 15],
        "nested": [[value, [value], {"a": [value, {"b": value}]}] for value in short],
        "keys": {value: {value: value} for value in sorted(short)},
    }
