"""Names of container images, as the kubelet validates and completes them.

Source: ParseNormalizedNamed of distribution/reference, which the kubelet calls: a name that it rejects gives
InvalidImageName. What it takes for a registry because of a capital, as in `Team/x`, is no host either.
"""

from __future__ import annotations

import re
from functools import lru_cache

from flowdsl.grammar.regex import regex

PULL_POLICIES = ("Always", "IfNotPresent", "Never")
"""When an image is pulled. Source: Kubernetes, PullPolicy."""

_COMPONENT = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_REGISTRY = regex(rf"(?:{_COMPONENT}(?:\.{_COMPONENT})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?")
_PATH = regex(r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*")
_TAG = regex(r"\w[\w.-]{0,127}", re.ASCII)
_DIGESTS = {"sha256": 64, "sha384": 96, "sha512": 128}
_HEX = regex(r"[a-f0-9]+")
_LONGEST = 255
_HUB = "docker.io"


@lru_cache(maxsize=256)
def fault(text: str) -> str:
    """Why a text is not an image reference, in words; empty if it is one."""
    name, at, digest = text.partition("@")
    if at and not _is_digest(digest):
        return "a digest is `sha256:` and 64 digits from 0 to f"
    if "://" in name:
        return "a name has no `://`"
    if any(character.isspace() for character in text):
        return "a name has no blanks"
    registry, path = parted(name)
    path, colon, tag = path.partition(":")
    if colon and not _TAG.fullmatch(tag):
        return "a tag has up to 128 letters, digits, `_`, `-` and `.`" if tag else "no tag after the `:`"
    if path != path.lower() or _is_word(registry):
        return "capitals are for tags only"
    if not 0 < len(path) <= _LONGEST:
        return f"a name has 1 to {_LONGEST} characters"
    if registry and not _REGISTRY.fullmatch(registry):
        path = f"{registry}/{path}"  # not a host, so part of the path
    if not all(map(_PATH.fullmatch, path.split("/"))):
        return "a name is lower-case letters and digits, with `.`, `_`, `-` and `/` between them"
    return (
        "this is a digest without a name" if len(path) == 64 and not registry and _HEX.fullmatch(path) else ""
    )


def parted(name: str) -> tuple[str, str]:
    """The registry of a name, empty if it is left out, and the rest."""
    first, slash, rest = name.partition("/")
    is_registry = slash and ("." in first or ":" in first or first == "localhost" or first != first.lower())
    if not is_registry:
        return "", name
    return _HUB if first == f"index.{_HUB}" else first, rest


def completed(name: str) -> str:
    """A name with its registry: `python:3.12` is `docker.io/library/python:3.12`."""
    registry, path = parted(name)
    if registry in ("", _HUB):
        registry, path = _HUB, path if "/" in path else f"library/{path}"
    return f"{registry}/{path}"


def _is_word(registry: str) -> bool:
    """Whether a registry is one only because of its capitals, and thus no host."""
    return not (registry in ("", "localhost") or "." in registry or ":" in registry)


def _is_digest(text: str) -> bool:
    algorithm, _, code = text.partition(":")
    return len(code) == _DIGESTS.get(algorithm) and _HEX.fullmatch(code) is not None
