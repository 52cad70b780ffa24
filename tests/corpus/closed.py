"""The reference schemas of Argo as judges, with every object closed: an unknown field is an error.

`validate_with_crd` judges as the API server does with the full custom resource definitions, without
the rules in CEL. `validate_with_schema` judges by schema.json, which also looks into `inline`.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, TypeGuard

import yaml
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from tests.corpus import corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KINDS = ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow")
PREFIX = "io.argoproj.workflow.v1alpha1."
WIDTHS = {"int32": 31, "int64": 63}
#: Definitions of schema.json that hold what they like.
FREE = ("Plugin", "FieldsV1", "WorkflowStatus", "CronWorkflowStatus", "PersistentVolumeClaimStatus")


@cache
def crd(kind: str) -> dict[str, Any]:
    """The OpenAPI schema of a kind's full custom resource definition. It is shared: do not change it."""
    text = corpus("argo", f"argoproj.io_{kind.lower()}s.yaml").read_text("utf-8")
    (version,) = yaml.load(text, Loader=yaml.CSafeLoader)["spec"]["versions"]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return schema


@cache
def definitions() -> dict[str, Any]:
    """The definitions of schema.json. They are shared: do not change them."""
    found: dict[str, Any] = json.loads(corpus("argo", "schema.json").read_text("utf-8"))["definitions"]
    return found


def validate_with_crd(document: dict[str, Any]) -> list[str]:
    """What the API server's structural schema says about a document; empty when it is content."""
    return list(errors(_crd_validator(document["kind"]), document))


def validate_with_schema(document: dict[str, Any]) -> list[str]:
    """What schema.json says about a document; empty when it is content."""
    return list(errors(_schema_validator(document["kind"]), document))


def errors(validator: Any, document: dict[str, Any]) -> Iterator[str]:
    """Each error as `path: message`."""
    for error in validator.iter_errors(without_nulls(document)):
        yield f"{error.json_path.removeprefix('$.')}: {error.message[:300]}"


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def entries(value: Any) -> list[Any]:
    """The entries of a list; nothing else has any."""
    return [*value] if isinstance(value, list) else []


def repeats(values: list[Any]) -> bool:
    """Whether two of the values are the same JSON."""
    return len(values) != len({json.dumps(value) for value in values})


def without_nulls(value: Any) -> Any:
    """A copy without the fields that are null, as the API server drops them."""
    if is_object(value):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in entries(value)] if isinstance(value, list) else value


@cache
def _crd_validator(kind: str) -> Any:
    schema = closed_crd(crd(kind))
    metadata = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    schema["properties"]["metadata"] = {"$ref": f"#/definitions/{metadata}"}
    schema["properties"]["apiVersion"] = {"const": "argoproj.io/v1alpha1"}
    schema["required"] = [*schema["required"], "apiVersion"]
    if "status" in schema["properties"]:
        schema["properties"]["status"] = {}
    schema["definitions"] = _closed_definitions()
    return server()(schema)


@cache
def _schema_validator(kind: str) -> Any:
    definition = {"$ref": f"#/definitions/{PREFIX}{kind}", "definitions": _closed_definitions()}
    return Draft202012Validator(definition)


@cache
def server() -> Callable[[Any], Any]:
    """A validator that knows what the API server adds to JSON schema."""

    def map_keys(_validator: Any, keys: list[str], value: Any, schema: Any) -> Iterator[ValidationError]:
        properties = schema["items"]["properties"]
        defaults = {key: properties[key].get("default") for key in keys}
        told = [[item.get(key, defaults[key]) for key in keys] for item in entries(value) if is_object(item)]
        if repeats(told):
            yield ValidationError(f"entries with the same {keys}")

    def list_type(_validator: Any, kind: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
        if kind == "set" and repeats(entries(value)):
            yield ValidationError("equal entries in a set")

    def form(_validator: Any, name: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
        if (
            name in WIDTHS
            and isinstance(value, int)
            and not -(2 ** WIDTHS[name]) <= value < 2 ** WIDTHS[name]
        ):
            yield ValidationError(f"{value} is too wide for {name}")

    rules = {"x-kubernetes-list-map-keys": map_keys, "x-kubernetes-list-type": list_type, "format": form}
    untyped: Any = validators
    made: Callable[[Any], Any] = untyped.extend(Draft202012Validator, rules)
    return made


def closed_crd(schema: dict[str, Any]) -> dict[str, Any]:
    """A copy of a structural schema in which each object takes its own fields only."""
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return {"type": schema["type"]} if "type" in schema else {}
    made = {key: value for key, value in schema.items() if key not in ("description", "default")}
    if "items" in made:
        made["items"] = closed_crd(made["items"])
    if isinstance(made.get("additionalProperties"), dict):
        made["additionalProperties"] = closed_crd(made["additionalProperties"])
    elif made.get("type") == "object":
        made["properties"] = {name: closed_crd(each) for name, each in made.get("properties", {}).items()}
        made["additionalProperties"] = False
    return made


@cache
def _closed_definitions() -> dict[str, Any]:
    return {name: _closed_definition(name, schema) for name, schema in definitions().items()}


def _closed_definition(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    short = name.rpartition(".")[2]
    if short in FREE:
        return {"type": "object"}
    if short in ("IntOrString", "Quantity"):  # schema.json calls both strings; the definitions are right
        return {"type": ["integer", "string"]}
    if schema.get("type") == "object":
        return {"additionalProperties": False, **schema}
    return schema
