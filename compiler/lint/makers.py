"""Objects that create workflows (Katib Experiments, Argo Events Sensors): what stops them from doing so.

Source: Katib 0.19, pkg/webhook/v1beta1/experiment/validator; Argo Events 1.9, pkg/sensors/triggers and
pkg/reconciler/sensor/validate.go.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.problem import Problem, Various
from flowdsl.compiler.schema.findings import short
from flowdsl.compiler.schema.table import fields, kinds, table
from flowdsl.compiler.tree import is_list, is_mapping, mapping_at, mappings_at, value_at
from flowdsl.diagnostic import instead, near
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from flowdsl.compiler.tree import Object, Path


class BadExperiment(Various):
    """An Experiment that Katib's webhook refuses, or whose trials never begin."""

    code = "FD793"


class BadSensor(Various):
    """A Sensor that Argo Events refuses, or one of whose triggers fails."""

    code = "FD794"


def maker(document: Object) -> Iterator[Problem]:
    """The findings about an object of another project that creates workflows, without those about the workflows."""
    spec = document.get("spec")
    if not is_mapping(spec):
        return
    version = str(document.get("apiVersion"))
    if document.get("kind") == "Experiment" and version == "kubeflow.org/v1beta1":
        yield from (Problem(path, BadExperiment(*each)) for path, *each in _experiment(document, spec))
    elif _is_sensor(document):
        places = decided(document)
        for path, *each in _sensor(spec):
            if not any(path[: len(place)] == place for place in places):
                yield Problem(path, BadSensor(*each))


def decided(document: Object) -> list[Path]:
    """The places of a Sensor whose values are set by its events, or by the object that a patch is for."""
    return list(_decided(document)) if _is_sensor(document) else []


def _is_sensor(document: Object) -> bool:
    return document.get("kind") == "Sensor" and document.get("apiVersion") == "argoproj.io/v1alpha1"


def _decided(document: Object) -> Iterator[Path]:
    for index, trigger in _listed(document.get("spec"), "triggers"):
        path: Path = (*_SPEC, "triggers", index, "template")
        template = trigger.get("template")
        yield from _destinations(trigger, template, path)
        for sort in _OPERATIONS:
            own = mapping_at(template, sort)
            place = (*path, sort, "source", "resource")
            yield from _destinations(own, value_at(own, ("source", "resource")), place)
            if own.get("operation") == "patch":
                yield place


def _destinations(owner: Any, target: Any, path: Path) -> Iterator[Path]:
    """The places below an object that the parameters of a trigger set to values from events."""
    for _, parameter in _listed(owner, "parameters"):
        value, place = target, path
        for part in _DOT.split(str(parameter.get("dest", ""))):
            key = int(part) if is_list(value) and part.isdecimal() else part.replace("\\.", ".")
            value, place = value_at(value, (key,)), (*place, key)
        yield place


def _listed(owner: Any, field: str) -> list[tuple[int, Object]]:
    """The mappings in a list of an object, with their indices."""
    found = value_at(owner, (field,))
    return [(index, each) for index, each in enumerate(found) if is_mapping(each)] if is_list(found) else []


def _word(owner: Object, field: str, path: Path, known: Collection[str]) -> Iterator[tuple[Path, str, str]]:
    """The finding about a field with a value that is not one of the known ones."""
    value = owner.get(field)
    if isinstance(value, str) and value and value not in known:
        yield (*path, field), f"`{field}` cannot be `{short(value)}`", instead(value, known)


_TYPES = ("double", "int", "categorical", "discrete")
_POLICIES = ("Never", "LongRunning", "FromVolume")
_ALGORITHMS = (
    *("random", "grid", "tpe", "multivariate-tpe", "bayesianoptimization", "cmaes", "sobol", "hyperband"),
    *("enas", "darts", "pbt"),
)
_SPEC: Path = ("spec",)


def _experiment(document: Object, spec: Object) -> Iterator[tuple[Path, str, str]]:
    name = mapping_at(document, "metadata").get("name")
    if isinstance(name, str) and name and not "a" <= name[0] <= "z":
        way = "begin it with a lower-case letter"
        yield ("metadata", "name"), f"an Experiment cannot be called `{short(name)}`", way
    yield from _counted(spec)
    yield from _word(spec, "resumePolicy", _SPEC, _POLICIES)
    objective, path = spec.get("objective"), (*_SPEC, "objective")
    if objective is None:
        yield (
            _SPEC,
            "the Experiment has no `objective`",
            "add `objective`, with `type` and `objectiveMetricName`",
        )
    elif is_mapping(objective):
        metric, more = objective.get("objectiveMetricName"), objective.get("additionalMetricNames")
        if objective.get("type") is None:
            yield path, "the objective has no `type`", "write `type: maximize`, or `minimize`"
        yield from _word(objective, "type", path, ("maximize", "minimize"))
        if not metric:
            yield path, "the objective has no `objectiveMetricName`", "add the name of the metric"
        if is_list(more) and metric in more:
            place = (*path, "additionalMetricNames", more.index(metric))
            yield place, f"`{metric}` is the metric of the objective already", "remove it here"
    algorithm, path = spec.get("algorithm"), (*_SPEC, "algorithm")
    if algorithm is None:
        yield _SPEC, "the Experiment has no `algorithm`", "add `algorithm: {algorithmName: random}`"
    elif is_mapping(algorithm):
        called = algorithm.get("algorithmName")
        if not called:
            yield path, "the algorithm has no `algorithmName`", "add it, as in `algorithmName: random`"
        elif isinstance(called, str) and called not in _ALGORITHMS and near(called, _ALGORITHMS, 0.75):
            place = (*path, "algorithmName")
            yield place, f"Katib has no algorithm `{called}`", instead(called, _ALGORITHMS)
    if not spec.get("parameters") and spec.get("nasConfig") is None:
        yield _SPEC, "the Experiment has no `parameters`", "add those that the trials differ in"
    for index, parameter in _listed(spec, "parameters"):
        yield from _parameter(parameter, (*_SPEC, "parameters", index))
    yield from _trials(spec)


def _counted(spec: Object) -> Iterator[tuple[Path, str, str]]:
    """The findings about the numbers of trials."""
    most = spec.get("maxTrialCount")
    for field, least in (("maxFailedTrialCount", 0), ("maxTrialCount", 1), ("parallelTrialCount", 1)):
        value = spec.get(field)
        if not isinstance(value, int) or isinstance(value, bool):
            continue
        place = (*_SPEC, field)
        if value < least:
            yield place, f"`{field}` is {value}", f"write a whole number from {least}"
        elif field != "maxTrialCount" and isinstance(most, int) and value > most >= 1:
            yield place, f"`{field}` is {value}, of {most} trials", f"write at most {most}"


def _parameter(parameter: Object, path: Path) -> Iterator[tuple[Path, str, str]]:
    """The findings about the search space of a parameter."""
    sort, space = parameter.get("parameterType"), parameter.get("feasibleSpace")
    yield from _word(parameter, "parameterType", path, (*_TYPES, "unknown"))
    name = parameter.get("name")
    if not is_mapping(space) or not space:
        if space is None or is_mapping(space):
            yield path, f"parameter `{name}` has no `feasibleSpace`", "add what its values are drawn from"
        return
    place = (*path, "feasibleSpace")
    for field in ("max", "min", "step"):
        if isinstance(number := space.get(field), (int, float)):
            yield (*place, field), f"`{field}` is the number {number}, not text", f'write "{number}"'
            return
    if sort in ("double", "int"):
        if space.get("list"):
            way = 'write `min` and `max`, or `parameterType: "discrete"`'
            yield (*place, "list"), f"parameter `{name}` is of the type {sort} and has a `list`", way
        elif not space.get("max") or not space.get("min"):
            way = "add both, in quotes"
            yield place, f"parameter `{name}` is of the type {sort} and lacks `min` or `max`", way
        else:
            yield from _limits(space, place)
    elif sort in ("categorical", "discrete") and any(space.get(each) for each in ("max", "min", "step")):
        way = "write `list`, or `parameterType: double`"
        yield place, f"parameter `{name}` is {sort} and has `min`, `max` or `step`", way


def _limits(space: Object, path: Path) -> Iterator[tuple[Path, str, str]]:
    """The findings about the limits of a numeric range."""
    for field in ("min", "max"):
        if not _is_number(space[field]):
            yield (
                (*path, field),
                f"`{field}` is `{space[field]}`, which is not a number",
                "write a number in quotes",
            )
            return
    if float(space["min"]) > float(space["max"]):
        yield path, f"no number is from {space['min']} to {space['max']}", "write the lower number as `min`"


def _is_number(text: object) -> bool:
    try:
        float(str(text))
    except ValueError:
        return False
    return True


_USED = regex(r"\$\{trialParameters\.([^}]*)\}")
_OF_TRIAL = regex(r"\$\{trialSpec\.[^}]+\}")


def _trials(spec: Object) -> Iterator[tuple[Path, str, str]]:
    """The findings about the template of the trials, and the parameters that are substituted in it."""
    template, path = spec.get("trialTemplate"), (*_SPEC, "trialTemplate")
    if template is None:
        yield _SPEC, "the Experiment has no `trialTemplate`", "add it, with the object that a trial is"
        return
    if not is_mapping(template):
        return
    body, elsewhere = template.get("trialSpec"), template.get("configMap")
    if body is not None and elsewhere is not None:
        yield path, "the trials have `trialSpec` and `configMap`", "keep one of them"
        return
    if not is_mapping(body):
        if elsewhere is None and body is None:
            yield path, "the trials have no `trialSpec`", "add it, with the object that a trial is"
        return
    if str(body.get("apiVersion")).startswith("argoproj.io/"):  # Katib may resolve these of other kinds
        for field, example in (
            ("primaryContainerName", "main"),
            ("successCondition", 'status.[@this].#(phase=="Succeeded")#'),
            ("failureCondition", 'status.[@this].#(phase=="Failed")#'),
        ):
            if not template.get(field):
                yield path, f"the trials have no `{field}`", f"add `{field}: {example}`"
    metadata = body.get("metadata")
    for field in ("name", "namespace"):
        if is_mapping(metadata) and metadata.get(field):
            place = (*path, "trialSpec", "metadata", field)
            yield place, f"a trial cannot have a `{field}` of its own", "remove it: Katib names its trials"
    if template.get("trialParameters") is None:
        way = "add a list of `name` and `reference`, or an empty one"
        yield path, "the trials have no `trialParameters`", way
        return
    yield from _replaced(spec, template, json.dumps(body, default=str, ensure_ascii=False), path)


def _replaced(spec: Object, template: Object, text: str, path: Path) -> Iterator[tuple[Path, str, str]]:
    """The findings about the parameters of trials: each is one of the Experiment, and is used by the trial."""
    drawn = [str(each.get("name")) for _, each in _listed(spec, "parameters")]
    given = _listed(template, "trialParameters")
    used = _USED.findall(text)
    unknown = list(dict.fromkeys(name for name in used if name not in [one.get("name") for _, one in given]))
    names, references = list[str](), list[str]()
    for index, one in given:
        place = (*path, "trialParameters", index)
        name, reference = one.get("name"), one.get("reference")
        if not name or not reference:
            yield place, "a parameter of the trials needs `name` and `reference`", "add both"
        if not isinstance(name, str) or not isinstance(reference, str) or not name or not reference:
            continue
        if "{" in name or "}" in name:
            yield (*place, "name"), f"`{name}` cannot be the name of a parameter", "write it without braces"
        elif name in names:
            yield (*place, "name"), f"`{name}` is already the name of another parameter", "write another name"
        elif reference in references:
            way = "use that one, or refer to another parameter"
            yield (*place, "reference"), f"another parameter refers to `{reference}` already", way
        elif drawn and reference not in drawn and not _OF_TRIAL.fullmatch(reference):
            found = f"the Experiment has no parameter `{reference}`"
            yield (*place, "reference"), found, instead(reference, drawn)
        elif name not in used:
            way = f"write ${{trialParameters.{name}}} where it belongs, or remove the parameter"
            if unknown:  # which is the same mistake
                way = f"write `{unknown.pop(0)}` here, or `{name}` there"
            yield (*place, "name"), f"`{name}` does not occur in the `trialSpec`", way
        names.append(name)
        references.append(reference)
    for name in unknown:
        found = f"`trialParameters` has no `{name}`, which occurs in the `trialSpec`"
        close = near(name, names)
        yield (*path, "trialParameters"), found, f"write `{close}` there" if close else "add it"


_OPERATIONS = {
    "argoWorkflow": (
        *("submit", "submit-from", "resubmit", "resume", "retry", "suspend", "terminate", "stop"),
    ),
    "k8s": ("create", "update", "patch", "delete"),
}
_DOT = regex(r"(?<!\\)\.")
"""The separator of the keys of a path. Source: github.com/tidwall/sjson."""
_PLACE = regex(r"spec\.arguments\.parameters\.(\d+)(?:\..*)?")


def _sensor(spec: Object) -> Iterator[tuple[Path, str, str]]:
    """The findings about the triggers of a Sensor: their operations, and the events that they use."""
    known = [str(each.get("name")) for _, each in _listed(spec, "dependencies")]
    for index, trigger in _listed(spec, "triggers"):
        path: Path = (*_SPEC, "triggers", index)
        template = trigger.get("template")
        for at, one in _listed(trigger, "parameters"):
            yield from _source(one, (*path, "parameters", at), known)
        for sort, operations in _OPERATIONS.items():
            if not is_mapping(template) or not is_mapping(own := template.get(sort)):
                continue
            place = (*path, "template", sort)
            yield from _word(own, "operation", place, operations)
            resource = value_at(own, ("source", "resource"))
            for at, one in _listed(own, "parameters"):
                yield from _source(one, (*place, "parameters", at), known)
                yield from _target(one, (*place, "parameters", at), resource)


def _source(parameter: Object, path: Path, known: Collection[str]) -> Iterator[tuple[Path, str, str]]:
    """The finding about the event that a trigger takes a value from."""
    name = mapping_at(parameter, "src").get("dependencyName")
    if isinstance(name, str) and known and name not in known:
        yield (*path, "src", "dependencyName"), f"there is no dependency `{name}`", instead(name, known)


def _target(parameter: Object, path: Path, resource: object) -> Iterator[tuple[Path, str, str]]:
    """The finding about the field of a workflow that a trigger sets: whether it, or the parameter, exists."""
    target = parameter.get("dest")
    if not isinstance(target, str) or not is_mapping(resource):
        return
    kind, parts = str(resource.get("kind")), [each.replace("\\.", ".") for each in _DOT.split(target)]
    if kind in kinds() and (at := _unknown(kind, parts)) is not None:
        wrong, known = at
        close = near(parts[wrong], known)
        meant = ".".join((*parts[:wrong], close, *parts[wrong + 1 :])) if close else ""
        found = f"a {kind} has no field `{'.'.join(parts[: wrong + 1])}`"
        yield (*path, "dest"), found, f"write `{meant}`" if meant else "name a field that it has"
        return
    place = _PLACE.fullmatch(target)
    if place is None:
        return
    count = len(mappings_at(resource, "spec", "arguments", "parameters"))
    if int(place[1]) >= count:
        way = f"write a position from 0 to {count - 1}" if count else "add the parameter there, with its name"
        yield (*path, "dest"), f"the workflow has no parameter {place[1]}, of {count}", way


def _unknown(kind: str, parts: list[str]) -> tuple[int, Collection[str]] | None:
    """The index of the first part of a path that is no known field, and the known fields; None if all are."""
    sort = kind
    for index, part in enumerate(parts):
        form, _, inner = sort.partition(":")
        if inner:
            if form == "list" and not part.isdecimal():
                return None  # `-1` appends an entry, and other parts have meanings of their own
            sort = inner
        elif sort not in table()["types"]:
            return None
        elif part not in fields(sort):
            return index, fields(sort)
        else:
            sort = fields(sort)[part]
    return None
