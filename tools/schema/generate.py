"""Write compiler/schema/argo.json: every field that a workflow of Argo 4.1 can have, as one small table.

`python -m tools.schema.generate` writes the file; with `--check` it only tells whether the file is current.
The Kubernetes part is read from the package `kubernetes-validate`, the Argo part from the field tables of
`argo-workflows`, and `tools/schema/delta.py` brings both to 4.1. Same packages, same bytes.
"""

from __future__ import annotations

import importlib
import importlib.resources
import inspect
import json
import re
import sys
from typing import Any

from tools.page import ROOT, keep
from tools.schema import delta, operators

TARGET = ROOT / "compiler" / "schema" / "argo.json"
KUBERNETES = "v1.35.0"  # the API that the definitions of Argo 4.1 are built with
SDK = "argo_workflows.model."
ARGO = "IoArgoprojWorkflowV1alpha1"
GROUPS = ("io.k8s.api.core.v1.", "io.k8s.apimachinery.pkg.apis.meta.v1.", "io.k8s.api.policy.v1.")
PLAIN = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "object",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "string",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "object",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
}
SCALARS: dict[Any, str] = {str: "string", int: "integer", bool: "boolean", float: "number", dict: "object"}

Type = dict[str, Any]
TYPES = {**delta.TYPES, **operators.TYPES}
REQUIRED = {**delta.REQUIRED, **operators.REQUIRED}


def short_name(long_name: str) -> str:
    """The name of a Kubernetes type here: without its group, unless another type has that name."""
    return delta.RENAMED.get(long_name) or long_name.rpartition(".")[2]


class Kubernetes:
    """The types of the Kubernetes API, by their short names."""

    def __init__(self) -> None:
        package = importlib.resources.files("kubernetes_validate")
        folder = package / "kubernetes-json-schema" / f"{KUBERNETES}-local"
        loaded = json.loads((folder / "_definitions.json").read_text("utf-8"))
        self.definitions: dict[str, Any] = loaded["$defs"]
        self.long_names = {
            short_name(name): name
            for group in reversed(GROUPS)
            for name in self.definitions
            if name.startswith(group)
        }

    def served(self) -> dict[str, dict[str, str]]:
        """The types of the kinds of Kubernetes' own API, by version and kind."""
        types: dict[str, dict[str, str]] = {}
        for name, definition in self.definitions.items():
            for made in definition.get("x-kubernetes-group-version-kind", ()):
                version = f"{made['group']}/{made['version']}".removeprefix("/")
                if made["kind"] in delta.SERVED.get(version, "").split():
                    types.setdefault(version, {})[made["kind"]] = self.named(name)
        if missing := {
            version: kinds
            for version, kinds in delta.SERVED.items()
            if len(kinds.split()) != len(types[version])
        }:
            raise KeyError(f"delta.py speaks of kinds that Kubernetes does not serve: {missing}")
        return types

    def named(self, long_name: str) -> str:
        """The short name of a type, which no other has."""
        name = short_name(long_name)
        if self.long_names.setdefault(name, long_name) != long_name:
            raise KeyError(f"two types are called {name}: {self.long_names[name]} and {long_name}")
        return name

    def type(self, name: str) -> Type:
        """The fields, the required ones, and the key fields of lists."""
        long_name = self.long_names[name]
        definition = self.definitions[long_name]
        fields: dict[str, str] = {}
        rules: dict[str, Any] = {}
        for field, schema in definition.get("properties", {}).items():
            # A status belongs to the controllers.
            fields[field] = "any" if field == "status" and "metadata" in fields else self.expression(schema)
            if not long_name.startswith("io.k8s.api."):
                continue  # metadata: the API server accepts repeated entries there
            if "x-kubernetes-list-map-keys" in schema:
                keys = {key: delta.DEFAULTS.get(key) for key in schema["x-kubernetes-list-map-keys"]}
                rules[field] = {"keys": keys}
            elif schema.get("x-kubernetes-list-type") == "set":
                rules[field] = {"set": True}
        return {"fields": fields, "required": definition.get("required", []), "rules": rules}

    def expression(self, schema: dict[str, Any]) -> str:
        """The type expression of one field's JSON schema."""
        if "$ref" in schema:
            long_name = schema["$ref"].rpartition("/")[2]
            return PLAIN.get(long_name) or self.named(long_name)
        kinds: list[str] = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        kind = next(each for each in kinds if each != "null")
        if kind == "array":
            return "list:" + self.expression(schema["items"])
        if kind == "object":
            return "map:" + self.expression(schema["additionalProperties"])
        return "int32" if schema.get("format") == "int32" else kind


def model(name: str) -> Any:
    """The SDK's model of an Argo type, or None when it has no model."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    module = f"{SDK}io_argoproj_workflow_v1alpha1_{words}".replace("oauth2", "o_auth2")
    try:
        return getattr(importlib.import_module(module), ARGO + name)
    except ModuleNotFoundError:
        return None


def argo_type(found: Any) -> Type:
    """The fields and the required ones (the positional arguments) of a model."""
    names: dict[str, str] = found.attribute_map
    fields = {names[field]: argo_expression(kind) for field, kind in found.openapi_types.items()}
    arguments = inspect.signature(found.__init__).parameters
    return {"fields": fields, "required": [names[name] for name in arguments if name in names], "rules": {}}


def argo_expression(kind: Any) -> str:
    """The type expression of one entry of a model's `openapi_types`: a tuple holds the accepted types."""
    if isinstance(kind, tuple):
        kinds: list[Any] = [*kind]
        return argo_expression(kinds[0]) if len(kinds) == 1 else "any"
    if isinstance(kind, list):
        return "list:" + argo_expression(kind[0])
    if isinstance(kind, dict):
        return "map:" + argo_expression(kind[str])
    if kind in SCALARS:
        return SCALARS[kind]
    if "value" in kind.openapi_types and "value" not in kind.attribute_map:  # a named list
        return argo_expression(kind.openapi_types["value"])
    name: str = kind.__name__
    return re.sub(r"^(IoArgoprojWorkflowV1alpha1|IoK8sApi[A-Z][a-z]+V1)", "", name)


def type_of(name: str, kubernetes: Kubernetes) -> Type:
    """One type of the packages, updated to 4.1."""
    source = delta.ALIKE.get(name, name)
    found = model(source)
    if name in TYPES:
        made: Type = {"fields": dict(TYPES[name]), "required": [], "rules": {}}
    elif found is not None:
        made = argo_type(found)
        if name in delta.CONTAINERS:
            container = kubernetes.type("Container")
            made["fields"].update(container["fields"])
            made["rules"].update(container["rules"])
    else:
        made = kubernetes.type(source)
    made["fields"].update(delta.FIELDS.get(name, {}))
    made["gone"] = delta.GONE.get(name, {})
    made["fields"] = {field: kind for field, kind in made["fields"].items() if field not in made["gone"]}
    made["required"] = sorted(REQUIRED[name] if name in REQUIRED else made["required"])
    made["rules"].update(delta.RULES.get(name, {}))
    if unknown := (made["rules"].keys() | set(made["required"])) - made["fields"].keys():
        raise KeyError(f"{name} has no field {sorted(unknown)}")
    return {part: value for part, value in made.items() if value or part == "fields"}


def schema() -> dict[str, Any]:
    """The whole table: every type that is reachable from the kinds of Argo, Kubernetes and operators."""
    kubernetes = Kubernetes()
    types: dict[str, Type] = {}
    served = kubernetes.served()
    operated = {version: {kind: kind for kind in kinds.split()} for version, kinds in operators.KINDS.items()}
    objects = [name for kinds in (*served.values(), *operated.values()) for name in kinds.values()]
    waiting = [*delta.KINDS, *delta.BESIDE, *objects]
    # It grows during the loop, in this order: types of operators refer to those of Kubernetes, which are named then.
    for name in waiting:
        if name not in types:
            types[name] = type_of(name, kubernetes)
            targets = (kind.rpartition(":")[2] for kind in types[name]["fields"].values())
            waiting.extend(target for target in targets if target[0].isupper())
    for table in (TYPES, delta.ALIKE, delta.FIELDS, delta.GONE, REQUIRED, delta.RULES):
        if idle := table.keys() - types.keys():
            raise KeyError(f"there are types that nothing reaches: {sorted(idle)}")
    return {
        "kinds": delta.KINDS,
        "beside": delta.BESIDE,
        "served": served,
        "operated": operated,
        "patterns": delta.PATTERNS,
        "types": types,
    }


def text() -> str:
    """The content of the file: one line for each type, so that a change of a type changes one line."""

    def compact(value: object) -> str:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)

    made = schema()
    types = ",\n".join(f"{compact(name)}:{compact(made['types'][name])}" for name in sorted(made["types"]))
    parts = "".join(
        f'"{each}":{compact(made[each])},\n' for each in ("kinds", "beside", "served", "operated", "patterns")
    )
    return f'{{{parts}"types":{{\n{types}\n}}}}\n'


if __name__ == "__main__":
    sys.exit(keep("schema.generate", {TARGET: text()}))
