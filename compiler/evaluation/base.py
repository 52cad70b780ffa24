"""Decoding of base64 and base32 as in Go. Source: encoding/base64 and encoding/base32 of Go."""

from __future__ import annotations

import string

from flowdsl.compiler.evaluation.values import ExpressionError
from flowdsl.grammar.utf8 import decoded

_64 = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
_32 = string.ascii_uppercase + "234567"
_PAD = "="


def decoded64(text: str) -> str:
    """Decode a text in base64. Raises ExpressionError."""
    signs = text.encode().decode("latin-1")  # Go counts bytes
    bits: list[int] = []
    kept = [at for at, sign in enumerate(signs) if sign not in "\r\n"]
    for place, at in enumerate(kept):
        value = _64.find(signs[at])
        if value >= 0:
            bits.append(value)
            continue
        if signs[at] != _PAD or len(bits) % 4 < 2:
            raise _wrong("64", at)
        rest = kept[place + 1 :]
        if len(bits) % 4 == 2:
            if not rest:
                raise _wrong("64", len(signs))
            if signs[rest[0]] != _PAD:
                raise _wrong("64", rest[0] - 1)
            rest = rest[1:]
        if rest:
            raise _wrong("64", rest[0])
        return _joined(bits, 6)
    if len(bits) % 4:
        raise _wrong("64", len(signs) - len(bits) % 4)
    return _joined(bits, 6)


def decoded32(text: str) -> str:
    """Decode a text in base32. Raises ExpressionError."""
    signs = text.encode().decode("latin-1").replace("\r", "").replace("\n", "")
    bits: list[int] = []
    for at, sign in enumerate(signs):
        left, done = len(signs) - at - 1, len(bits) % 8
        if sign == _PAD and done >= 2 and left < 8:
            if left + done < 7:
                raise _wrong("32", len(signs))
            for more, one in enumerate(signs[at + 1 : at + 8 - done]):
                if one != _PAD:
                    raise _wrong("32", at + more)
            if done in (3, 6):
                raise _wrong("32", at)
            return _joined(bits, 5)
        if sign not in _32:
            raise _wrong("32", at)
        bits.append(_32.index(sign))
    if len(bits) % 8:
        raise _wrong("32", len(signs) - len(bits) % 8)
    return _joined(bits, 5)


def _joined(values: list[int], size: int) -> str:
    number, count = 0, len(values) * size
    for value in values:
        number = number << size | value
    return decoded((number >> count % 8).to_bytes(count // 8, "big"))


def _wrong(base: str, at: int) -> ExpressionError:
    return ExpressionError(f"illegal base{base} data at input byte {at}")
