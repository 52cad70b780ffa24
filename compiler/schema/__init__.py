"""The closed schema of Argo 4.1 documents: what fields there are, and whether a manifest keeps to them."""

from __future__ import annotations

from flowdsl.compiler.schema.table import (
    API_VERSION,
    beside,
    expression_at,
    fields,
    is_type,
    kinds,
    required,
    rules,
)
from flowdsl.compiler.schema.validate import check_schema

__all__ = [
    "API_VERSION",
    "beside",
    "check_schema",
    "expression_at",
    "fields",
    "is_type",
    "kinds",
    "required",
    "rules",
]
