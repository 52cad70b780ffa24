"""SHA-256 without loading OpenSSL.

`hashlib` loads it, which takes longer than all digests of a compilation. The `random` module of the standard library
avoids it in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256  # Python 3.12 and later
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:  # a Python with only OpenSSL's implementation
            from hashlib import sha256

__all__ = ["digest", "sha256"]


def digest(*parts: str) -> str:
    """The SHA-256 of some texts, delimited unambiguously, in hexadecimal."""
    found = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        found.update(b"%d:" % len(data))
        found.update(data)
    return found.hexdigest()
