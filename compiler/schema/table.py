"""The fields of Argo 4.1 and Kubernetes objects: `argo.json`, read when first asked for.

A type is known by its Go name (`Template`, `DAGTask`, `Container`); a field has a type expression:

- `string`, `boolean`, `number`, `integer` (64 bits), `int32`, `int-or-string`, `quantity`
- `object` (any mapping), `any` (not looked into)
- `list:X`, `map:X` (text keys), or the name of a type

The file is made by `python -m tools.schema.generate`; where each fact comes from is said there.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Required, TypedDict

    class Type(TypedDict, total=False):
        """One object type; empty entries are left out, except `fields`."""

        fields: Required[dict[str, str]]
        gone: dict[str, str]
        required: list[str]
        rules: dict[str, dict[str, Any]]

    class Table(TypedDict):
        """The whole file.

        Kinds of documents, those that hold no workflow, the types of Kubernetes' own kinds and of those of operators by
        version and kind, named patterns (expression, in words), types.
        """

        kinds: list[str]
        beside: list[str]
        served: dict[str, dict[str, str]]
        operated: dict[str, dict[str, str]]
        patterns: dict[str, tuple[str, str]]
        types: dict[str, Type]


API_VERSION = "argoproj.io/v1alpha1"


@cache
def table() -> Table:
    """The whole table. It is shared: do not change it."""
    loaded: Table = json.loads((Path(__file__).parent / "argo.json").read_text("utf-8"))
    return loaded


def kinds() -> tuple[str, ...]:
    """The kinds of document that hold a workflow; each is also the name of a type."""
    return tuple(table()["kinds"])


def beside() -> tuple[str, ...]:
    """The kinds of document that hold no workflow; each is also the name of a type."""
    return tuple(table()["beside"])


def served() -> Mapping[str, Mapping[str, str]]:
    """The types of common kinds of Kubernetes' own API, by version and kind."""
    return table()["served"]


def operated() -> Mapping[str, Mapping[str, str]]:
    """The types of the kinds of common operators, by version and kind. Other versions of them have more fields."""
    return table()["operated"]


def fields(type_name: str) -> Mapping[str, str]:
    """The fields of a type, with their type expressions. Raises KeyError for an unknown type."""
    return table()["types"][type_name]["fields"]


def required(type_name: str) -> tuple[str, ...]:
    """The required fields of a type. Raises KeyError for an unknown type."""
    return tuple(table()["types"][type_name].get("required", ()))


def rules(type_name: str) -> Mapping[str, Mapping[str, Any]]:
    """The rules on fields of a type. Raises KeyError for an unknown type.

    Keys of a rule: `pattern`, `enum`, `minLength`, `maxLength` on text; `min`, `max` on numbers;
    `minItems`, `maxItems`, `keys` (the fields that tell entries apart, with defaults), `set` on lists;
    `each` on the entries of a list; `open`: the API server does not validate below; `advice` in words.
    """
    return table()["types"][type_name].get("rules", {})


def gone(type_name: str) -> Mapping[str, str]:
    """The fields that Argo 4.0 removed from a type, each with what to write instead."""
    return table()["types"][type_name].get("gone", {})


def is_type(expression: str) -> bool:
    """Whether a type expression is the name of an object type."""
    return expression[0].isupper()


def expression_at(kind: str, path: Iterable[str | int]) -> str | None:
    """The type expression at a path of a document, or None if the schema has no such path."""
    expression = kind
    for step in path:
        if is_type(expression):
            found = fields(expression).get(str(step))
            if found is None:
                return None
            expression = found
        elif ":" in expression:
            expression = expression.partition(":")[2]
        else:
            return None
    return expression
