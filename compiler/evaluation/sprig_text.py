"""The functions of text below `sprig.`.

Source: github.com/Masterminds/sprig 3.3.0 (strings.go, regex.go, crypto.go, url.go),
github.com/Masterminds/goutils 1.1.1, github.com/huandu/xstrings 1.5.0. Regular expressions are those of Python.
"""

# The type of a value is known only at run time, as in Go: lists and mappings hold anything.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import base64
import posixpath
import re
import zlib
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from flowdsl.compiler.evaluation import patterns
from flowdsl.compiler.evaluation.base import decoded32, decoded64
from flowdsl.compiler.evaluation.cases import pascal, separated
from flowdsl.compiler.evaluation.functions import SPACES, cased, split
from flowdsl.compiler.evaluation.go_quote import quoted
from flowdsl.compiler.evaluation.values import ExpressionError, Long, NilList, shown, within
from flowdsl.compiler.evaluation.versions import compared, version
from flowdsl.grammar.utf8 import decoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.compiler.evaluation.values import Value


def strval(value: Value) -> str:
    """The text of a value, as sprig formats it."""
    if isinstance(value, str):
        return value
    return decoded(value) if isinstance(value, bytes) else shown(value)


def _texts(value: Value) -> list[str]:
    if isinstance(value, list):
        items: list[Value] = value
        return [strval(item) for item in items if item is not None]
    return [] if value is None else [strval(value)]


def _digest(kind: str, text: str) -> str:
    import hashlib  # it loads OpenSSL

    return hashlib.new(kind, text.encode(), usedforsecurity=False).hexdigest()


def _title(text: str) -> str:
    return re.sub(r"(?<!\w)[^\W\d_]", lambda match: match[0].upper(), text)


def _untitle(text: str) -> str:
    return re.sub(r"(?<!\S)\S", lambda match: match[0].lower(), text)


def _trunc(count: int, text: str) -> str:
    raw = text.encode()
    if count < 0:
        return decoded(raw[count:]) if len(raw) + count > 0 else text
    return decoded(raw[:count])


def _substr(start: int, end: int, text: str) -> str:
    raw = text.encode()
    if start < 0:
        if not 0 <= end <= len(raw):
            size = f" with length {len(raw)}" if end > 0 else ""
            raise ExpressionError(f"runtime error: slice bounds out of range [:{end}]{size}")
        return decoded(raw[:end])
    end = len(raw) if end < 0 or end > len(raw) else end
    if end < start:
        raise ExpressionError(f"runtime error: slice bounds out of range [{start}:{end}]")
    return decoded(raw[start:end])


def _abbrev(width: int, text: str) -> str:
    return text if width < 4 else decoded(_abbreviated(text.encode(), 0, width))


def _abbrev_both(left: int, right: int, text: str) -> str:
    if right < 4 or (left > 0 and right < 7):
        return text
    return decoded(_abbreviated(text.encode(), left, right))


def _abbreviated(raw: bytes, offset: int, width: int) -> bytes:
    """A text abbreviated with `...` around the offset (AbbreviateFull of goutils)."""
    if len(raw) <= width:
        return raw
    offset = min(offset, len(raw), len(raw) - (width - 3)) if len(raw) - offset < width - 3 else offset
    if offset <= 4:
        return raw[: width - 3] + b"..."
    if width < 7:
        return b""
    if offset + width - 3 < len(raw):
        return b"..." + _abbreviated(raw[offset:], 0, width - 3)
    return b"..." + raw[len(raw) - (width - 3) :]


def _wrapped(width: int, text: str, separator: str = "\n", long_words: bool = False) -> str:
    """A text wrapped at a width in bytes, as in Go, which may split a character (WrapCustom of goutils)."""
    raw, width = text.encode(), max(width, 1)
    lines: list[bytes] = []
    at = 0
    while len(raw) - at > width:
        if raw[at : at + 1] == b" ":
            at += 1
            continue
        stop = raw.rfind(b" ", at, width + at + 1)
        if stop >= at:
            lines.append(raw[at:stop])
            at = stop + 1
        elif long_words:
            lines.append(raw[at : at + width])
            at += width
        else:
            stop = raw.find(b" ", width + at)
            if stop < 0:
                break
            lines.append(raw[at:stop])
            at = stop + 1
    return decoded((separator or "\n").encode().join([*lines, raw[at:]]))


def _indent(count: int, text: str) -> str:
    pad = " " * within(count) if count >= 0 else _negative()
    return pad + text.replace("\n", "\n" + pad)


def _split_map(parts: list[str]) -> dict[str, str]:
    return {f"_{index}": part for index, part in enumerate(parts)}


def _matches(pattern: str, text: str) -> bool:
    """Whether a pattern matches; false if it is invalid, as in sprig."""
    try:
        return patterns.has(pattern, text)
    except ExpressionError:
        return False


def _with(pattern: str, text: str, new: Callable[[re.Match[str]], str]) -> str:
    """A text with each match of a pattern replaced."""
    parts: list[str] = []
    last = 0
    for match in patterns.found(pattern, text):
        parts += [text[last : match.start()], new(match)]
        last = match.end()
    return "".join([*parts, text[last:]])


def _replaced(pattern: str, text: str, new: str) -> str:
    """Replace with groups: Go writes `$1` and `${1}`, and reads `$1x` as the group `1x`, which does not exist."""

    def expand(match: re.Match[str]) -> str:
        def group(found: re.Match[str]) -> str:
            name = found[1] or found[2] or ""
            if found[0] == "$$":
                return "$"
            try:
                return match[int(name)] or "" if name.isdecimal() else match[name] or ""
            except IndexError:
                return ""

        return re.sub(r"\$\$|\$\{(\w+)\}|\$(\w+)", group, new)

    return _with(pattern, text, expand)


def _limited(found: list[str], count: int) -> list[str]:
    return (found if count < 0 else found[:count]) or NilList()


def _all(pattern: str, text: str, count: int) -> list[str]:
    return _limited([match[0] for match in patterns.found(pattern, text)], count)


def _regex_split(pattern: str, text: str, count: int) -> list[str]:
    """Source: Split of Go's regexp.Regexp."""
    if count == 0:
        return NilList()
    if pattern and not text:
        return [""]
    parts: list[str] = []
    last = end = 0
    for match in patterns.found(pattern, text):
        if len(parts) == count - 1:
            break
        end = match.start()
        if match.end() != 0:
            parts.append(text[last:end])
        last = match.end()
    return parts if end == len(text) else [*parts, text[last:]]


def _decoded(text: str, decode: Callable[[str], str]) -> str:
    try:
        return decode(text)
    except ExpressionError as error:
        return str(error)


def _atoi(text: str) -> int:
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) and abs(int(text)) < 2**63 else 0


def _clean(path: str) -> str:
    made = posixpath.normpath(path) if path else "."
    return made[1:] if made.startswith("//") else made


def _base(path: str) -> str:
    if not path:
        return "."
    return posixpath.basename(path.rstrip("/")) or "/"


def _cat(*values: Value) -> str:
    return " ".join(strval(value) for value in values if value is not None)


_URL = re.compile(
    r"(?:(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*):)?(?://(?P<place>[^/?#]*))?(?P<path>[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?",
    re.DOTALL,
)


def _url_parts(text: str) -> dict[str, Value]:
    """The parts of a URL. Raises ExpressionError."""
    match = _URL.fullmatch(text)
    if (
        match is None
        or re.search(r"[\x00-\x1f\x7f]", text)
        or re.search(r"%(?![0-9a-fA-F]{2})", match["path"])
    ):
        raise ExpressionError(f"unable to parse url: parse {quoted(text)}: it is no URL")
    if not match["scheme"] and match["place"] is None and ":" in match["path"].partition("/")[0]:
        why = "first path segment in URL cannot contain colon"
        raise ExpressionError(f"unable to parse url: parse {quoted(text)}: {why}")
    scheme, path = (match["scheme"] or "").lower(), match["path"]
    opaque = path if scheme and match["place"] is None and not path.startswith("/") else ""
    user, at, host = (match["place"] or "").rpartition("@")
    name = host[1 : host.index("]")] if host.startswith("[") and "]" in host else host.partition(":")[0]
    return {
        "scheme": scheme,
        "host": host,
        "hostname": name,
        "path": "" if opaque else unquote(path),
        "query": match["query"] or "",
        "opaque": opaque,
        "fragment": unquote(match["fragment"] or ""),
        "userinfo": user if at else "",
    }


def _url(parts: dict[str, Value]) -> str:
    """A URL from its parts. Raises ExpressionError."""
    texts: dict[str, str] = {}
    for name in ("scheme", "host", "path", "query", "opaque", "fragment", "userinfo"):
        value: Value = parts.get(name, "")
        if not isinstance(value, str):
            raise ExpressionError(f"unable to parse {name} key, must be of type string, but it is not")
        texts[name] = value
    made = f"{texts['scheme']}:" if texts["scheme"] else ""
    if texts["opaque"]:
        made += texts["opaque"]
    else:
        place = f"{texts['userinfo']}@" * bool(texts["userinfo"]) + texts["host"]
        path = texts["path"] if texts["path"] == "*" else quote(texts["path"], safe=_IN_PATH)
        made += f"//{place}" if place or (texts["scheme"] and path.startswith("//")) else ""
        made += "/" * bool(path and place and not path.startswith("/"))
        made += "./" * (not made and ":" in path.partition("/")[0])  # else that would be the scheme
        made += path
    made += f"?{texts['query']}" * bool(texts["query"])
    return made + f"#{quote(texts['fragment'], safe=_IN_FRAGMENT)}" * bool(texts["fragment"])


#: Characters that need no escape. Source: escape of net/url in Go.
_IN_PATH = "/$&+,:;=@~"
_IN_FRAGMENT = f"{_IN_PATH}!()*?"


def _octal(text: str) -> int:
    return int(text, 8) if re.fullmatch(r"[+-]?[0-7]+", text) else 0


def _negative() -> str:
    raise ExpressionError("strings: negative Repeat count")


TEXTS: dict[str, Callable[..., Value]] = {
    "upper": lambda text: cased(text, str.upper),
    "lower": lambda text: cased(text, str.lower),
    "title": _title,
    "untitle": _untitle,
    "trim": lambda text: text.strip(SPACES),
    "trimAll": lambda signs, text: text.strip(signs) if signs else text,
    "trimall": lambda signs, text: text.strip(signs) if signs else text,
    "trimPrefix": lambda part, text: text.removeprefix(part),
    "trimSuffix": lambda part, text: text.removesuffix(part),
    "repeat": lambda count, text: text * within(count) if count >= 0 else _negative(),
    "substr": _substr,
    "nospace": lambda text: re.sub(r"\s", "", text),
    "trunc": _trunc,
    "abbrev": _abbrev,
    "abbrevboth": _abbrev_both,
    "initials": lambda text: "".join(word[:1].decode("latin-1") for word in text.encode().split()),
    "wrap": _wrapped,
    "wrapWith": lambda width, separator, text: _wrapped(width, text, separator, long_words=True),
    "contains": lambda part, text: part in text,
    "hasPrefix": lambda part, text: text.startswith(part),
    "hasSuffix": lambda part, text: text.endswith(part),
    "quote": lambda *values: " ".join(quoted(strval(value)) for value in values if value is not None),
    "squote": lambda *values: " ".join(f"'{shown(value)}'" for value in values if value is not None),
    "cat": _cat,
    "indent": _indent,
    "nindent": lambda count, text: "\n" + _indent(count, text),
    "replace": lambda old, new, text: text.replace(old, new),
    "plural": lambda one, many, count: one if count == 1 else many,
    "snakecase": lambda text: separated(text, "_"),
    "kebabcase": lambda text: separated(text, "-"),
    "camelcase": pascal,
    "swapcase": lambda text: cased(text, str.swapcase),
    "toString": strval,
    "toStrings": _texts,
    "join": lambda glue, items: glue.join(_texts(items)),
    "split": lambda separator, text: _split_map(split(text, separator, -1)),
    "splitn": lambda separator, count, text: _split_map(split(text, separator, count) if count else []),
    "splitList": lambda separator, text: split(text, separator, -1),
    "sortAlpha": lambda items: (
        sorted(_texts(items), key=str.encode) if isinstance(items, list) else [strval(items)]
    ),
    "atoi": _atoi,
    "toDecimal": lambda value: Long(_octal(strval(value))),
    "b64enc": lambda text: base64.b64encode(text.encode()).decode(),
    "b64dec": lambda text: _decoded(text, decoded64),
    "b32enc": lambda text: base64.b32encode(text.encode()).decode(),
    "b32dec": lambda text: _decoded(text, decoded32),
    "sha1sum": lambda text: _digest("sha1", text),
    "sha256sum": lambda text: _digest("sha256", text),
    "sha512sum": lambda text: _digest("sha512", text),
    "adler32sum": lambda text: str(zlib.adler32(text.encode())),
    "regexMatch": _matches,
    "regexFind": lambda pattern, text: next((match[0] for match in patterns.found(pattern, text)), ""),
    "regexFindAll": _all,
    "regexReplaceAll": _replaced,
    "regexReplaceAllLiteral": lambda pattern, text, new: _with(pattern, text, lambda _: new),
    "regexSplit": _regex_split,
    "regexQuoteMeta": lambda text: re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text),
    "base": _base,
    "dir": lambda path: _clean(posixpath.dirname(path)),
    "clean": _clean,
    "ext": lambda path: "." + path.rpartition(".")[2] if "." in posixpath.basename(path) else "",
    "isAbs": lambda path: path.startswith("/"),
    "semver": version,
    "semverCompare": compared,
    "urlParse": _url_parts,
    "urlJoin": _url,
}
for _name in ("Match", "Find", "FindAll", "ReplaceAll", "ReplaceAllLiteral", "Split"):
    TEXTS[f"mustRegex{_name}"] = TEXTS[f"regex{_name}"]
TEXTS["mustRegexMatch"] = patterns.has
for _name in ("base", "dir", "clean", "ext", "isAbs"):
    TEXTS[f"os{_name[0].upper()}{_name[1:]}"] = TEXTS[_name]
