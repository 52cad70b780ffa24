"""The table of Kubernetes' own kinds, and `check` of such objects in `resource` templates, beside the server."""

from __future__ import annotations

import copy
import functools
import json
import re
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from flowdsl.compiler.lint import lint
from flowdsl.compiler.schema.table import fields, is_type, operated, rules, served
from flowdsl.compiler.tree import is_list, is_mapping
from tests.apiserver.client import Refused
from tests.apiserver.proofs import SHORT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.apiserver.server import ApiServer

Object = dict[str, Any]
Place = tuple[str | int, ...]

OPERATED = [(version, kind, name) for version, kinds in operated().items() for kind, name in kinds.items()]
KINDS = [(version, kind, name) for version, kinds in served().items() for kind, name in kinds.items()]
NAMESPACE = "default"
RIGHT: dict[str, object] = {
    "any": {},
    "boolean": True,
    "int-or-string": 1,
    "int32": 1,
    "integer": 1,
    "number": 1.5,
    "object": {},
    "quantity": "1",
    "string": "YQ==",
}
UNKNOWN = "a field that no type has"
WRONG: dict[str, tuple[object, ...]] = {
    "boolean": ("true",),
    "int-or-string": (True,),
    "int32": ("1", 2**31),
    "integer": ("1", 1.5),
    "number": ("1.5",),
    "quantity": ("10 GB", [1]),
    "string": (1, ["a"]),
    UNKNOWN: ("red",),
}
TIME = "2026-01-01T00:00:00Z"


def right(expression: str, field: str = "", seen: tuple[str, ...] = ()) -> Any:
    """A value of a type with all its fields, all theirs, and so on."""
    outer, _, inner = expression.partition(":")
    if outer == "list":
        return [right(inner, field, seen)]
    if outer == "map":
        return {"a": right(inner, field, seen)}
    if is_type(expression):
        known: Mapping[str, str] = {} if expression in seen else fields(expression)
        return {each: right(kind, each, (*seen, expression)) for each, kind in known.items()}
    if field == "namespace":
        return NAMESPACE
    if field in ("eventTime", "lastObservedTime"):
        return TIME.replace("Z", ".000000Z")
    return (
        TIME
        if expression == "string" and re.search("Time$|Timestamp$|^time$|timeAdded", field)
        else RIGHT[expression]
    )


def wrong(expression: str) -> tuple[object, ...]:
    """Values that are not of a type."""
    outer, _, inner = expression.partition(":")
    if outer in ("list", "map"):
        below = wrong(inner)[:1]
        return (
            ("text", *([each] for each in below))
            if outer == "list"
            else ([], *({"a": each} for each in below))
        )
    return ("text",) if is_type(expression) else WRONG.get(expression, ())


def within(path: Place, value: object) -> Any:
    """A value at a path."""
    for step in reversed(path):
        value = [value] if step == 0 else {step: value}
    return value


def parts(expression: str, path: Place, seen: set[str]) -> Iterator[tuple[Place, str]]:
    """Each field of all types below one, once, with its type."""
    outer, _, inner = expression.partition(":")
    if inner:
        yield from parts(inner, (*path, 0 if outer == "list" else "a"), seen)
    elif is_type(expression) and expression not in seen:
        seen.add(expression)
        yield (*path, "colour"), UNKNOWN
        for field, kind in fields(expression).items():
            if field not in ("apiVersion", "kind", "status"):
                yield (*path, field), kind
                yield from parts(kind, (*path, field), seen)


def place(version: str, kind: str) -> str:
    """Where objects of a kind are created."""
    root = "/api/v1" if version == "v1" else f"/apis/{version}"
    plural = {"Endpoints": "endpoints", "Ingress": "ingresses", "NetworkPolicy": "networkpolicies"}.get(
        kind, f"{kind.lower()}{'e' if kind.endswith('ss') else ''}s"
    )
    if kind == "Eviction":
        return f"/api/v1/namespaces/{NAMESPACE}/pods/YQ==/eviction"
    return f"{root}/{plural}" if kind in WIDE else f"{root}/namespaces/{NAMESPACE}/{plural}"


WIDE = (
    *(
        "ClusterRole",
        "ClusterRoleBinding",
        "IngressClass",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
    ),
    *("StorageClass", "VolumeAttachment"),
    "ClusterTrainingRuntime",
)


def answer(server: ApiServer, body: Object) -> tuple[int, Object]:
    """The code and the status with which the server answers a strict dry run; 0 if it accepts the object."""
    query = {"fieldValidation": "Strict", "dryRun": "All"}
    try:
        server.admin.call("POST", place(body["apiVersion"], body["kind"]), body, query=query)
    except Refused as refused:
        return refused.code, refused.status
    return 0, {}


def code(server: ApiServer, body: Object) -> int:
    """The code alone."""
    return answer(server, body)[0]


def found(*bodies: Object) -> list[list[str]]:
    """What is found in objects that `resource` templates create."""
    templates: list[Object] = [
        {"name": f"make-{number}", "resource": {"action": "create", "manifest": json.dumps(body)}}
        for number, body in enumerate(bodies)
    ]
    spec = {"entrypoint": "make-0", "templates": templates}
    made = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "made"},
        "spec": spec,
    }
    told: list[list[str]] = [[] for _ in bodies]
    for each in lint(made):
        if each.finding.code == "FD559":
            told[int(each.path[2])].append(each.finding.message)
    return told


def of_kind(version: str, kind: str, body: Any) -> Object:
    """An object of a kind, with a name."""
    metadata = (
        {"name": "made", **body.get("metadata", {})}
        if isinstance(body.get("metadata", {}), dict)
        else body["metadata"]
    )
    return {**body, "apiVersion": version, "kind": kind, "metadata": metadata}


def test_the_server_knows_each_field_with_its_type(server: ApiServer) -> None:
    for version, kind, name in KINDS:
        code, status = answer(server, of_kind(version, kind, right(name)))
        assert code != 400, (kind, status["message"])


def test_the_server_refuses_what_the_table_refuses(server: ApiServer) -> None:
    seen: set[str] = set()
    cases = [
        of_kind(version, kind, within(path, value))
        for version, kind, name in KINDS
        for path, expression in parts(name, (), seen)
        for value in wrong(expression)
    ]
    assert len(cases) > 1500
    cases = cases[:: 4 if SHORT else 1]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(functools.partial(code, server), cases))
    assert [body for body, given in zip(cases, answers, strict=True) if given != 400] == []
    assert [body for body, told in zip(cases, found(*cases), strict=True) if not told] == []


NEWER = (
    "deletionPolicy",
    "deletionStrategy",
    "groupName",
    "managedBy",
    "podTemplateOverrides",
    "status",
    "volumeClaimPolicies",
)
"""Fields that differ in later versions of the operators than those whose definitions the server has."""


def without_newer(node: Any) -> Any:
    """An object without the fields of later versions."""
    if is_list(node):
        return [without_newer(each) for each in node]
    if is_mapping(node):
        return {key: without_newer(each) for key, each in node.items() if key not in NEWER}
    return node


def kubernetes() -> set[str]:
    """The types of Kubernetes, of which the definitions of operators have other versions."""
    seen: set[str] = set()
    for _, _, name in KINDS:
        deque(parts(name, (), seen), maxlen=0)
    return seen


def test_the_server_knows_each_field_of_an_operator_with_its_type(equipped: ApiServer) -> None:
    seen = tuple(kubernetes())
    for version, kind, name in OPERATED:
        given, status = answer(equipped, of_kind(version, kind, without_newer(right(name, seen=seen))))
        told = str(status.get("message"))
        assert given != 400, (kind, told)
        assert "must be of type" not in told, (kind, told)


def test_the_server_refuses_what_the_table_refuses_of_an_operator(equipped: ApiServer) -> None:
    seen = kubernetes()
    cases = [
        of_kind(version, kind, within(path, value))
        for version, kind, name in OPERATED
        for path, expression in parts(name, (), seen)
        for value in wrong(expression)[:1]
        if expression != UNKNOWN and not {*path}.intersection(NEWER)
    ]
    assert len(cases) > 150
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(functools.partial(answer, equipped), cases))
    refused = ["must be of type" in str(status.get("message")) or given == 400 for given, status in answers]
    assert [body for body, given in zip(cases, refused, strict=True) if not given] == []
    assert [body for body, told in zip(cases, found(*cases), strict=True) if not told] == []


WHOLE: list[Object] = [
    *yaml.safe_load_all((Path(__file__).parent / "kinds" / "right.yaml").read_text("utf-8"))
]
FREE = {
    "HorizontalPodAutoscaler: spec.metrics.0.resource.target.averageUtilization",
    "HorizontalPodAutoscaler: spec.scaleTargetRef.apiVersion",  # earlier versions accept
    "NetworkPolicy: spec.ingress.0.from.0.podSelector",
    "NetworkPolicy: spec.ingress.0.from.1.ipBlock",
    "NetworkPolicy: spec.ingress.0.ports.0.port",
    "PersistentVolume: spec.capacity.storage",
    "PersistentVolume: spec.nfs",
}
"""Parts that an object needs, and of which nothing is said."""


def places(node: Any, path: Place = ()) -> Iterator[Place]:
    """The paths of all that an object has."""
    inner = node.items() if is_mapping(node) else enumerate(node) if is_list(node) else ()
    for step, each in inner:
        yield (*path, step)
        yield from places(each, (*path, step))


def changed(body: Object, path: Place, *value: object) -> Object:
    """An object with another value at a path, or with none."""
    made = copy.deepcopy(body)
    node: Any = made
    for step in path[:-1]:
        node = node[step]
    if value:
        node[path[-1]] = value[0]
    else:
        del node[path[-1]]
    return made


def ruled(body: Object) -> Iterator[tuple[Place, dict[str, Any]]]:
    """The fields with rules of the objects in an object, with the rules."""
    waiting: list[tuple[Place, str, Any]] = [((), served()[body["apiVersion"]][body["kind"]], body)]
    while waiting:
        path, expression, node = waiting.pop()
        outer, _, inner = expression.partition(":")
        if outer == "list":
            waiting += [((*path, index), inner, each) for index, each in enumerate(node)]
        elif is_type(expression):
            yield from (((*path, field), dict(rule)) for field, rule in rules(expression).items())
            known = fields(expression)
            waiting += [((*path, field), known[field], each) for field, each in node.items()]


def test_a_whole_object_is_right_and_one_without_a_part_is_judged_as_by_the_server(server: ApiServer) -> None:
    for body in WHOLE:
        assert (answer(server, body), found(body)) == ((0, {}), [[]]), body["kind"]
    cases = {
        f"{body['kind']}: {'.'.join(map(str, path))}": changed(body, path)
        for body in WHOLE
        for path in places(body)
        if path != ("spec",) and path[0] not in ("apiVersion", "kind", "metadata")
    }
    refused = {name for name, body in cases.items() if code(server, body)}
    told = {name for name, found_there in zip(cases, found(*cases.values()), strict=True) if found_there}
    assert len(refused) > 100
    assert refused - told == FREE
    assert told <= refused


def test_the_server_knows_the_same_words_and_bounds(server: ApiServer) -> None:
    judged = 0
    different: list[object] = []
    for body in WHOLE:
        for path, rule in ruled(body):
            words, least = rule.get("enum", ()), rule.get("min")
            for value in (
                *words,
                *(("Odd",) if words else ()),
                *(() if least is None else (least, least - 1)),
            ):
                made = changed(body, path, value)
                given, status = answer(server, made)
                told = found(made)[0]
                judged += 1
                if bool(given) != bool(told):
                    different.append((body["kind"], path, value, status.get("message"), told))
    assert not different, "\n".join(map(str, different))
    assert judged > 80
