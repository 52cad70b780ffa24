"""Where results are kept, and under which key, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Field, Json


def fields(memo: ir.Memo) -> tuple[Field, ...]:
    """The fields of a template, each with the options that determine it."""
    return (("memoize", _memoize(memo), ("cache",)),)


def _memoize(memo: ir.Memo) -> Json:
    """The key is a hash in hexadecimal: Argo accepts letters, digits and `-`, in any text.

    Source: cacheKeyRegex in workflow/controller/cache/cache.go; `maxAge` is parsed by time.ParseDuration.
    """
    parts = [f"'{memo.digest}'", *(_text(one) for one in memo.ingredients if one.port)]
    return {
        "key": f"{{{{=sprig.sha256sum(toJSON([{', '.join(parts)}]))}}}}",
        "maxAge": memo.max_age,
        "cache": {"configMap": {"name": memo.cache}},
    }


def _text(one: ir.Ingredient) -> str:
    given = f"inputs.parameters['{one.port}']"
    if not one.columns:
        return given
    cells = ", ".join(f"#['{column}']" for column in one.columns)
    return f"map(fromJSON({given}), [{cells}])"
