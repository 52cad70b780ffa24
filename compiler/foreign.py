"""Files of Python that are written for another tool, and the way from there to a pipeline."""

from __future__ import annotations

from flowdsl.grammar.regex import regex

_STEPS = "write what its {parts} do as functions under `@step`, and call them in a `@pipeline`"
_WAYS = {
    "hera": "the file is written for Hera: give the YAML that Hera prints, `print(w.to_yaml())`, to `flowdsl import`",
    "kfp": f"the file is written for KFP: {_STEPS.format(parts='components')}",
    "metaflow": f"the file is written for Metaflow: {_STEPS.format(parts='steps')}",
}
_IMPORT = regex(r"(?m)^[ \t]*(?:from|import)[ \t]+(\w+)")


def way_out(text: str) -> str:
    """The help for a file that imports such a tool; empty if it imports none, or imports flowdsl too."""
    imported = _IMPORT.findall(text)
    return "" if "flowdsl" in imported else next((_WAYS[one] for one in imported if one in _WAYS), "")
