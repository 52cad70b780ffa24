"""Reads annotations and signatures without failing on names that are not defined.

Since Python 3.14 annotations are evaluated when they are accessed, which may raise.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import Signature


def annotations_of(thing: Any) -> dict[str, Any]:
    """The annotations of a function or class; `typing.get_type_hints` reports unknown names."""
    try:
        found: dict[str, Any] = getattr(thing, "__annotations__", {})
    except Exception:
        if sys.version_info >= (3, 14):
            from annotationlib import Format, get_annotations

            found = get_annotations(thing, format=Format.FORWARDREF)
        else:
            raise
    return found


def signature_of(function: Callable[..., object]) -> Signature:
    """The signature of a function, with unresolvable annotations as text. Raises TypeError, ValueError."""
    from inspect import signature

    if sys.version_info >= (3, 14):
        from annotationlib import Format

        try:
            return signature(function)
        except (TypeError, ValueError):
            raise
        except Exception:  # from an annotation
            return signature(function, annotation_format=Format.STRING)
    return signature(function)
