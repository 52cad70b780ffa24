"""Whether a `when` without variables holds: then it does so in every run, or in none."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1024)
def holds(condition: str) -> bool:
    """Whether a `when` holds in every run: it is empty, or has only constants."""
    return not condition or _constant(condition) is True


def never_holds(condition: str) -> bool:
    """Whether a `when` holds in no run: it has only constants."""
    return bool(condition) and _constant(condition) is False


def _constant(condition: str) -> bool | None:
    """The value of a condition; None if it has tags or cannot be evaluated."""
    if "{{" in condition:
        return None
    # Few manifests have conditions without variables.
    from flowdsl.compiler.evaluation import conditions
    from flowdsl.compiler.evaluation.values import ExpressionError

    try:
        return conditions.condition(condition)
    except ExpressionError:
        return None
