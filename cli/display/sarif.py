"""Findings as a SARIF log: the format that code scanning services read.

Source: SARIF 2.1.0, an OASIS standard; columns in code points (`unicodeCodePoints`), ends exclusive.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from flowdsl import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.cli.display.located import Located
    from flowdsl.places.place import Span

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def log(found: Sequence[Located]) -> str:
    """A log with one run: the kinds of findings as rules, the findings as results."""
    kinds = {one.finding.code: type(one.finding) for one in found}
    codes = sorted(kinds)
    rules = [
        {
            "id": code,
            "shortDescription": {"text": (kinds[code].__doc__ or code).splitlines()[0]},
            "defaultConfiguration": {"level": kinds[code].severity},
        }
        for code in codes
    ]
    results = [_result(one, codes.index(one.finding.code)) for one in found]
    driver = {"name": "flowdsl", "semanticVersion": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(one: Located, rule: int) -> dict[str, object]:
    texts = dict.fromkeys((one.finding.message, one.finding.caption, one.finding.advice))
    result: dict[str, object] = {
        "ruleId": one.finding.code,
        "ruleIndex": rule,
        "level": one.finding.severity,
        "message": {"text": "\n".join(text for text in texts if text)},
    }
    if one.span is not None:
        result["locations"] = [_location(one.file, one.span)]
    related = [
        {**_location(file, span), "message": {"text": text}}
        for file, span, text, _ in one.related
        if span is not None
    ]
    if related:
        result["relatedLocations"] = related
    return result


def _location(file: str, span: Span) -> dict[str, object]:
    region: dict[str, int] = {"startLine": span.line, "endLine": span.end_line}
    if span.column:
        region |= {"startColumn": span.column, "endColumn": span.end_column}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(file)}, "region": region}}
