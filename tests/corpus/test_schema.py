"""The schema against the reference: the full custom resource definitions of Argo 4.1, and schema.json."""

from __future__ import annotations

import csv
import random
import re
from collections import Counter
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from flowdsl.compiler.schema import check_schema, fields, is_type, kinds, required, rules
from flowdsl.compiler.schema.table import table
from flowdsl.runtime.drift import altered
from tests.corpus import corpus
from tests.corpus.closed import (
    KINDS,
    PREFIX,
    crd,
    definitions,
    entries,
    is_object,
    validate_with_crd,
    validate_with_schema,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Fact = dict[str, Any]
LIMITS = ("enum", "minLength", "maxLength", "minItems", "maxItems")


def facts_of_table(expression: str, rule: dict[str, Any], path: str) -> Iterator[tuple[str, Fact]]:
    """What our schema says of each path below a type expression."""
    outer, _, inner = expression.partition(":")
    fact: Fact = {key: rule[key] for key in LIMITS if key in rule}
    fact |= {name: rule[key] for key, name in (("min", "minimum"), ("max", "maximum")) if key in rule}
    if "pattern" in rule:
        fact["pattern"] = table()["patterns"][rule["pattern"]][0]
    if "keys" in rule:
        fact["keys"] = rule["keys"]
    if "set" in rule:
        fact["set"] = True
    if rule.get("open"):
        yield path, {"type": "any"}
    elif outer == "list":
        yield path, fact | {"type": "array"}
        if inner != "any":
            yield from facts_of_table(inner, rule.get("each", {}), f"{path}[]")
    elif outer == "map":
        yield path, fact | {"type": "map"}
        yield from facts_of_table(inner, {}, path + "{}")
    elif is_type(expression):
        yield path, fact | {"type": "object", "required": sorted(required(expression))}
        for field, inside in fields(expression).items():
            yield from facts_of_table(inside, dict(rules(expression).get(field, {})), f"{path}.{field}")
    elif expression == "quantity":
        yield path, fact | {"type": "int-or-string", "pattern": table()["patterns"]["quantity"][0]}
    else:
        yield path, fact | {"type": expression}


def facts_of_crd(schema: dict[str, Any], path: str) -> Iterator[tuple[str, Fact]]:
    """What a custom resource definition says of each path below a schema."""
    fact: Fact = {key: schema[key] for key in (*LIMITS, "minimum", "maximum") if key in schema}
    if "pattern" in schema:
        anchored = re.fullmatch(r"\^(.*)\$", schema["pattern"])
        assert anchored is not None, schema["pattern"]
        fact["pattern"] = anchored[1]
    if "x-kubernetes-list-map-keys" in schema:
        entry = schema["items"]["properties"]
        fact["keys"] = {key: entry[key].get("default") for key in schema["x-kubernetes-list-map-keys"]}
    if schema.get("x-kubernetes-list-type") == "set":
        fact["set"] = True
    if schema.get("format") == "byte":
        fact["pattern"] = table()["patterns"]["base64"][0]
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        yield path, {"type": schema.get("type", "any")}
    elif schema.get("x-kubernetes-int-or-string"):
        yield path, fact | {"type": "int-or-string"}
    elif schema["type"] == "array":
        yield path, fact | {"type": "array"}
        yield from facts_of_crd(schema["items"], f"{path}[]")
    elif "additionalProperties" in schema:
        yield path, fact | {"type": "map"}
        yield from facts_of_crd(schema["additionalProperties"], path + "{}")
    elif schema["type"] == "object":
        yield path, fact | {"type": "object", "required": sorted(schema.get("required", []))}
        for field, inside in schema.get("properties", {}).items():
            yield from facts_of_crd(inside, f"{path}.{field}")
    elif schema["type"] == "integer":
        yield path, fact | {"type": "int32" if schema.get("format") == "int32" else "integer"}
    else:
        yield path, fact | {"type": schema["type"]}


#: Where our schema and the definitions differ: paths, and why ours is right to.
DIFFERENCES = {
    r"\.metadata(\..*)?": "the API server checks the metadata of each object itself, by the type ObjectMeta",
    r"(.*\.volumeClaimTemplates\[\])?\.status(\..*)?": "written by controllers: accepted, not looked into",
    r".*\.withItems": "the definitions take anything there; Argo reads a list",
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_path_says_what_the_definition_says(kind: str) -> None:
    ours = dict(facts_of_table(kind, {}, ""))
    theirs = dict(facts_of_crd(crd(kind), ""))
    different = [path for path in ours.keys() | theirs.keys() if ours.get(path) != theirs.get(path)]
    explained = {
        explanation: list(filter(re.compile(explanation).fullmatch, different)) for explanation in DIFFERENCES
    }
    unexplained = set(different).difference(*explained.values())
    assert {path: (ours.get(path), theirs.get(path)) for path in unexplained} == {}
    assert all(explained.values())
    assert len(ours) > 8000


def defaults_of_crd(schema: Any) -> Iterator[tuple[str, Any]]:
    """The fields below a schema for which the API server adds a value, with the value."""
    if is_object(schema):
        for field, inside in schema.get("properties", {}).items():
            if "default" in inside:
                yield field, inside["default"]
        for inside in schema.values():
            yield from defaults_of_crd(inside)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_server_adds_is_no_change_of_a_submission(kind: str) -> None:
    found = {(field, repr(value)): {field: value} for field, value in defaults_of_crd(crd(kind))}
    assert len(found) == 12
    sent: Fact = {"metadata": {}, "spec": {"containers": [{}] * len(found)}}
    assert altered(sent, {"metadata": {}, "spec": {"containers": [*found.values()]}}) == []


#: Fields that schema.json requires and we do not, and why.
OPTIONAL = {
    ("Container", "image"): "may come from templateDefaults",
    ("ScriptTemplate", "image"): "may come from templateDefaults",
    ("ScriptTemplate", "source"): "may come from templateDefaults",
}


def differences_from_schema_json(expression: str, schema: dict[str, Any], seen: set[str]) -> Iterator[str]:
    """Where a type expression and a schema of schema.json differ: fields, types, required fields."""
    outer, _, inner = expression.partition(":")
    name = schema.get("$ref", "").rpartition(".")[2]
    schema = definitions()[schema["$ref"].removeprefix("#/definitions/")] if name else schema
    if expression == "any":
        return  # withItems: each item is what it likes to be
    if outer in ("list", "map"):
        inside = schema["items"] if outer == "list" else schema["additionalProperties"]
        yield from differences_from_schema_json(inner, inside, seen)
    elif not is_type(expression):
        same = {"int32": "integer", "int-or-string": "string", "quantity": "string"}  # it calls both strings
        if schema["type"] != same.get(expression, expression):
            yield f"{expression} is {schema['type']}"
    elif expression not in seen:
        seen.add(expression)
        needed = {field for field in schema.get("required", ()) if (expression, field) not in OPTIONAL}
        if needed != set(required(expression)):
            yield f"{expression} needs {needed}"
        properties = schema.get("properties", {})
        if properties.keys() != fields(expression).keys():
            yield f"{expression} and {name}: {sorted(properties.keys() ^ fields(expression).keys())}"
        for field in properties.keys() & fields(expression).keys():
            for difference in differences_from_schema_json(
                fields(expression)[field], properties[field], seen
            ):
                yield f"{expression}.{field}: {difference}"


def test_inline_templates_are_those_of_schema_json() -> None:
    seen: set[str] = set()
    found = list(differences_from_schema_json("Template", {"$ref": f"#/definitions/{PREFIX}Template"}, seen))
    metadata = fields("ObjectMeta").keys() - fields("EmbeddedMetadata").keys()
    assert {field for owner in ("DAGTask", "WorkflowStep") for field in fields(owner)} >= {"inline"}
    assert {each.rpartition("EmbeddedMetadata and")[2] for each in found} == {
        f" ObjectMeta: {sorted(metadata)}"
    }
    assert len(seen) > 150


def documents(*folder: str) -> dict[str, dict[str, Any]]:
    """The documents of a folder of the reference material, by file and position."""
    root = corpus(*folder)
    return {
        f"{path.relative_to(root)}:{index}": document
        for path in sorted(root.rglob("*.yaml"))
        for index, document in enumerate(yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader))
        if document is not None
    }


EXAMPLES = documents("argo", "examples")
#: Documents in the examples that hold no workflow, with what is found in them.
OTHER_KINDS = {
    "workflow-count-resourcequota.yaml:0": ["FD401"],  # a ResourceQuota
    "workflow-event-binding/event-consumer-workfloweventbinding.yaml:0": [],
    "workflow-event-binding/github-path-filter-workfloweventbinding.yaml:0": [],
}


def found_codes(document: dict[str, Any]) -> list[str]:
    return [problem.finding.code for problem in check_schema(document)]


def test_the_kinds_are_those_of_the_reference() -> None:
    assert kinds() == KINDS


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_keep_to_the_schema(name: str) -> None:
    assert found_codes(EXAMPLES[name]) == OTHER_KINDS.get(name, [])


def verdicts() -> dict[str, str]:
    """What the API server says to each manifest of the folder `lint`."""
    rows = csv.reader(corpus("lint", "verdicts.tsv").read_text("utf-8").splitlines(), delimiter="\t")
    file, _, _, server, *_ = next(rows)
    assert (file, server) == ("file", "API server (full CRDs)")
    return {row[0]: row[3] for row in rows}


@pytest.mark.parametrize(("name", "verdict"), verdicts().items())
def test_refused_is_what_the_api_server_refuses(name: str, verdict: str) -> None:
    (document,) = yaml.load_all(corpus("lint", name).read_text("utf-8"), Loader=yaml.CSafeLoader)
    assert ("refused" if found_codes(document) else "accepted") == verdict


def within(value: Any, path: tuple[str | int, ...]) -> Any:
    """What stands at a path below a value."""
    for step in path:
        value = value[step]
    return value


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Each path of a document that the definitions look into, below the root."""
    if path:
        yield path
    if path and path[-1] in ("inline", "withItems", "plugin"):
        return
    for step in value if is_object(value) else range(len(entries(value))):
        yield from paths(within(value, (step,)), (*path, step))


VALUES: tuple[Any, ...] = (
    *("", "text", "{{x}}", "a_b c!", "5 cores", "x" * 300, "aGk=", "0 2 * * *", "Never"),
    *(0, 1, -1, 600, 3.0, 1.5, 2**40, 2**70, True, None),
    *([], {}, [None], [{}], {"a": 1}, {"a": "b"}, ["a", "a"]),
)


def mutants(
    document: dict[str, Any], dice: random.Random, count: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Copies with one thing changed, each with a word on the change."""
    places = [path for path in paths(document) if path[-1] not in ("kind", "withItems", "inline")]
    for _ in range(count):
        mutant = deepcopy(document)
        path = dice.choice(places)
        holder = within(mutant, path[:-1])
        step: Any = path[-1]
        change = dice.choice(("value", "value", "gone", "again", "many"))
        if change == "value":
            holder[step] = dice.choice(VALUES)
        elif change == "gone":
            del holder[step]
        elif isinstance(step, str):
            holder[f"{step}x"] = holder.pop(step)
        else:
            holder += [holder[step]] * (1 if change == "again" else 500)
        yield f"{change} {path}", mutant


def test_changed_examples_are_judged_as_the_definitions_judge_them() -> None:
    verdict_counts: Counter[bool] = Counter()
    for name, document in EXAMPLES.items():
        if name in OTHER_KINDS:
            continue
        for change, mutant in mutants(document, random.Random(name), 12):
            expected = validate_with_crd(mutant)
            found = [problem.finding.message for problem in check_schema(mutant)]
            assert bool(found) == bool(expected), (name, change, found, expected)
            verdict_counts[bool(found)] += 1
    assert min(verdict_counts.values()) > 200


def test_mistakes_in_inline_templates_are_found_as_by_schema_json() -> None:
    inline: dict[str, Any] = {
        "container": {"image": "busybox", "command": ["true"], "resources": {"limits": {"cpu": "1"}}},
        "outputs": {"parameters": [{"name": "p", "valueFrom": {"path": "/p"}}]},
        "retryStrategy": {"limit": 2},
    }
    template = {"name": "main", "steps": [[{"name": "a", "inline": inline}]]}
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "w"}}
    document: dict[str, Any] = {**head, "spec": {"entrypoint": "main", "templates": [template]}}
    stricter = {"FD406", "FD407", "FD411"}  # schema.json has no patterns and no choices
    verdict_counts: Counter[bool] = Counter()
    for path in paths(inline):
        for value in VALUES:
            mutant = deepcopy(document)
            within(mutant["spec"]["templates"][0]["steps"][0][0]["inline"], path[:-1])[path[-1]] = value
            expected = [each for each in validate_with_schema(mutant) if "'image' is a required" not in each]
            found = [code for code in found_codes(mutant) if code not in stricter]
            assert bool(found) == bool(expected), (path, value, expected)
            verdict_counts[bool(found)] += 1
    assert min(verdict_counts.values()) > 80
