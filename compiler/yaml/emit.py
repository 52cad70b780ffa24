"""YAML text from plain data: the same bytes on every machine, the same values in every reader.

A string is plain only if no reader takes it for anything else: PyYAML (YAML 1.1), the Go reader of kubectl
and Argo (1.1 with the floats of 1.2), ruamel.yaml and the readers in Rust (1.2). Text of several lines is a
block after `|` if all of it can be seen; the rest is in quotes. No line is folded and nothing is
anchored. A list stands at the column of its key, as kubectl prints it. A list of scalars, and a mapping of
scalars in a list, take one line if it is short: one for each argument of a task and each point of a sweep.
"""

from __future__ import annotations

import re
from itertools import chain
from json.encoder import encode_basestring
from math import isfinite
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Memo = dict[str, str]

WIDTH = 100  # columns of a list or mapping on one line, without its indentation
SHORT = WIDTH // 3  # the most elements that fit into it
LONGEST_KEY = 1000  # parsers look for the `:` of a key in its first 1024 characters

# What YAML 1.1, YAML 1.2 or a number parser of some language does not read as text; in any case, to be safe.
BOOLS = {"y", "n", "yes", "no", "on", "off", "true", "false"}
WORDS = BOOLS | {"null", "nil", "none", "nan", "-nan", "inf", "-inf", "infinity", "-infinity"}
# Names, paths, images, conditions: single spaces and colons, each between other characters, and none of
# `,[]{}#'"`, so that the text is as safe in flow style as in block style. Options. Quantities with a unit.
INNER = r"[-\w./+=@*&|()<>!$%~;^]"
PLAIN = re.compile(
    rf"[A-Za-z/]{INNER}*(?:(?: |:(?=[A-Za-z0-9/])){INNER}+)*"
    rf"|(?:--?|_+)[A-Za-z]{INNER}*"
    r"|[1-9][0-9]*(?:[KMGTP]i|[smh])",
    re.ASCII,
).fullmatch
STARTS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/"
NAME = STARTS + "0123456789_-."
# What is invisible, a line break in YAML 1.1, or refused by parsers: controls, soft
# hyphen, direction marks, separators, byte order mark, tags and selectors, surrogates, non-characters.
HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff"
)
CONTROLS = bytes({*range(32), 127} - {9, 10})  # its ASCII part: found five times faster in a script
ESCAPED = regex(f"[{HIDDEN}]")


def emit(documents: Iterable[Mapping[str, Any]]) -> str:
    """Several documents as one YAML stream, separated by `---`. Raises what `emit_one` raises."""
    return "---\n".join(map(emit_one, documents))


def emit_one(document: object) -> str:
    """One document and its final line break: dict with str keys, list, str, int, float, bool and None.

    Raises TypeError for any other type, and ValueError for what parsers lose or refuse: a lone surrogate, a
    float that is not finite, an int beyond 64 bits, a key longer than LONGEST_KEY characters.
    """
    texts: Memo = {"": '""'}
    keys: Memo = {}
    kind = type(document)
    if kind is dict and document:
        return "\n".join([*pairs(document, "\n", texts, keys), ""])
    if kind is list and document:
        return items("", document, "\n", texts, keys)[1:] + "\n"
    return f"{quote(document) if type(document) is str else scalar(document)}\n"


def pairs(node: Any, line: str, texts: Memo, keys: Memo) -> list[str]:
    """Each key with its value. `line` is a line break and the indentation of the keys."""
    found: list[str] = []
    for name, value in node.items():
        head = keys.get(name) or key(name, texts, keys)
        if type(value) is str and "\n" not in value:
            found.append(f"{head} {texts.get(value) or text(value, texts)}")
        else:
            found.append(below(head, value, line, texts, keys))
    return found


def below(head: str, value: object, line: str, texts: Memo, keys: Memo) -> str:
    """A value after its key, on the same line or on lines of its own."""
    kind = type(value)
    if kind is dict and value:
        line += "  "
        return line.join([head, *pairs(value, line, texts, keys)])
    if kind is list and value:
        return items(head, value, line, texts, keys)
    if type(value) is str:
        return f"{head} {block(value, line) if is_block(value) else texts.get(value) or text(value, texts)}"
    return f"{head} {scalar(value)}"


def items(head: str, node: Any, line: str, texts: Memo, keys: Memo) -> str:
    """A list after its key: on the same line, or with at least a line for each item."""
    if len(node) > SHORT and (rows := table(node, texts, keys)):
        return (line + "- ").join([head, *rows])
    inner = line + "  "
    flat = len(node) <= SHORT
    out = [head]
    value: object
    for value in node:
        kind = type(value)
        if kind is dict and value:
            flat = False
            lines = pairs(value, inner, texts, keys)
            if "\n" in lines[-1] or len(row := ", ".join(lines)) > WIDTH - 2 or "\n" in row:
                out.append(inner.join(lines))
            else:
                out.append(f"{{{row}}}")
        elif kind is list and value:
            flat = False
            nested = items("", value, inner, texts, keys)
            out.append(nested[1:] if nested[0] == " " else nested[len(inner) :])
        else:
            out.append(below("", value, line, texts, keys)[1:])
    if flat and len(row := ", ".join(out[1:])) <= WIDTH - 2 and "\n" not in row:
        return f"{head} [{row}]"
    return (line + "- ").join(out)


def table(node: list[Any], texts: Memo, keys: Memo) -> list[str]:
    """The rows of a long list of short, flat mappings with the same keys; nothing if it is not one.

    Equal to the result of the loop of `items`, in two thirds of its time: a sweep has ten thousand of them.
    """
    if {*map(type, node)} != {dict} or len({*map(tuple, node)}) > 1 or not node[0]:
        return []
    values: list[Any] = [*chain.from_iterable(row.values() for row in node)]
    if not {*map(type, values)} <= {str, int, float, bool, type(None)}:
        return []
    written = [texts.get(v) or text(v, texts) if type(v) is str else scalar(v) for v in values]
    names = [(keys.get(name) or key(name, texts, keys)).replace("%", "%%") for name in node[0]]
    row = f"{{{', '.join([name + ' %s' for name in names])}}}"
    rows = [row % cells for cells in zip(*[iter(written)] * len(names), strict=True)]
    return rows if len(max(rows, key=len)) <= WIDTH and "\\n" not in "".join(rows) else []


def is_block(value: str) -> bool:
    """Whether text has several lines, and nothing in it is hidden or would be lost by an editor."""
    return (
        "\n" in value[:-1]
        and value.lstrip("\n")[:1] not in ("", " ", "\t")
        and not (" \n" in value or "\t\n" in value or value.endswith((" ", "\t")))
        and not (
            len(value.encode().translate(None, CONTROLS)) < len(value)
            if value.isascii()
            else ESCAPED.search(value)
        )
    )


def block(value: str, line: str) -> str:
    """Text after `|`; `-` if it does not end in a line break, `+` if it ends in several."""
    body = value.removesuffix("\n")
    mark = "|-" if body == value else "|+" if body.endswith("\n") else "|"
    line += "  "
    rows = body.replace("\n", line)
    # Only rows that were empty end in spaces, which are removed.
    return f"{mark}{line}{rows}".replace(f"{line[1:]}\n", "\n").rstrip(" ")


def text(value: str, texts: Memo) -> str:
    """A string on one line, plain or in quotes; cached, unless it looks like a number."""
    if "0" <= value < ":" and value[-1] not in "imsh" and value.isascii() and "\x7f" not in value:
        return encode_basestring(value)
    # `strip` detects plain names, which PLAIN matches too, at a third of the cost.
    if ((value[0] in STARTS and not value.strip(NAME)) or PLAIN(value)) and value.lower() not in WORDS:
        written = value
    else:
        written = quote(value)
    texts[value] = written
    return written


def quote(value: str) -> str:
    """A string in double quotes; in single ones if that avoids escapes, as for JSON and shell text.

    The escapes of JSON are valid in YAML, except for surrogate pairs.
    """
    written = encode_basestring(value)
    if "\\" in written and "'" not in value and value.isascii() and value.isprintable():
        return f"'{value}'"
    return written if written.isascii() and "\x7f" not in written else ESCAPED.sub(escape, written)


def escape(match: re.Match[str]) -> str:
    """The escape of a hidden character."""
    code = ord(match[0])
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError(f"a lone surrogate (U+{code:04X}) is no text: decode the bytes as UTF-8")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def key(value: str, texts: Memo, keys: Memo) -> str:
    """A key and its colon, cached."""
    if type(value) is not str:
        raise TypeError(f"a key is no str: {value!r}")
    written = keys[value] = (texts.get(value) or text(value, texts)) + ":"
    if len(written) > LONGEST_KEY:
        raise ValueError(f"no YAML reader takes a key of {len(written)} characters: {value[:40]}...")
    return written


def scalar(value: object) -> str:
    """A scalar other than text."""
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int:
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{value} does not fit into 64 bits: write it as text")
        return str(value)
    if type(value) is float:
        if not isfinite(value):
            raise ValueError(f"{value} is no number of JSON: write it as text")
        written = repr(value)
        return written if "." in written else written.replace("e", ".0e")  # YAML 1.1 reads 1e-05 as text
    if type(value) in (dict, list):
        return "{}" if type(value) is dict else "[]"
    raise TypeError(f"a document has no {type(value).__name__}: {value!r}")
