"""Lint: manifests and what is found in them, side by side in tests/lint, and what holds for all of them."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections import Counter
from copy import deepcopy
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import flowdsl.compiler.lint as package
from flowdsl.compiler.lint import lint
from flowdsl.compiler.lint.manifest.dag import Dag, cycles
from flowdsl.compiler.lint.pods import pod_fields, pod_texts
from flowdsl.compiler.schema.findings import dotted
from flowdsl.compiler.schema.table import fields
from flowdsl.compiler.tree import is_list, is_mapping, pairs
from flowdsl.diagnostic import Finding
from tests.goldens import same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flowdsl.compiler.problem import Problem

FOLDER = Path(__file__).with_name("lint")
FILES = sorted(FOLDER.glob("*.yaml"))
Object = dict[str, Any]
Steps = tuple[str | int, ...]


def documents(path: Path) -> list[Object]:
    return [*yaml.load_all(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)]


@cache
def originals() -> list[Object]:
    """The documents of all files, which no test may change."""
    return [document for path in FILES for document in documents(path)]


def show(problem: Problem) -> str:
    """One finding as in a golden file."""
    finding = problem.finding
    place = dotted(problem.path) + (" (key)" if problem.on_key else "")
    lines = [f"{finding.severity}[{finding.code}] {place or '(the whole)'}", f"  {finding.message}"]
    lines += [f"  | {finding.caption}"] if finding.caption else []
    lines += [f"  also at {dotted(each.path)}" for each in problem.also]
    lines += [f"  = {finding.advice}"] if finding.advice else []
    return "\n".join(lines)


def codes(document: Object) -> list[str]:
    return [problem.finding.code for problem in lint(document)]


def at(document: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        document = document[step]
    return document


def judged(document: Object) -> str:
    """What is found in a document, as in a golden file: at places in it, with ways out, and again the next time."""
    before, found = deepcopy(document), [*lint(document)]
    for problem in found:
        node = at(document, problem.path)
        if problem.part is not None:
            start, end = problem.part
            assert 0 <= start <= end <= len(str(node))
        assert problem.finding.message
        assert problem.finding.advice
    shown = [*map(show, found)]
    assert [*map(show, lint(document))] == shown
    assert {*shown} <= {*map(show, lint(document, rules=package.WRITTEN))}
    assert document == before
    return "\n\n".join(shown) or "nothing"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_findings(path: Path, request: pytest.FixtureRequest) -> None:
    same("\n\n---\n\n".join(map(judged, documents(path))) + "\n", path.with_suffix(".err"), request)


def kinds() -> dict[str, type[Finding]]:
    """The kinds of findings that the modules of lint define, by name."""
    modules = [
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    ]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Finding) and value.__module__ == module.__name__
        if "code" in vars(value)  # else it is a common base class
    }


#: Codes of manifests too big for a file: see the tests of sizes below.
SIZES = {"FD362", "FD595", "FD596", "FD597", "FD598", "FD774", "FD867"}

#: Codes of written YAML, and of several files at once: tests/check has them.
WRITTEN = {
    "FD588",
    "FD773",
    "FD793",
    "FD794",
    "FD796",
    "FD797",
    "FD798",
    "FD801",
    "FD812",
    "FD816",
    "FD819",
    "FD820",
    "FD821",
    "FD822",
    "FD876",
    "FD830",
    "FD831",
    "FD842",
    "FD849",
    "FD853",
}


def test_every_kind_of_finding_is_in_some_golden_file() -> None:
    shown = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.err"))
    defined = {kind.code: kind.severity for kind in kinds().values()}
    severities = {
        code: severity
        for severity, code in re.findall(r"^(\w+)\[(FD\d\d\d)\]", shown, re.MULTILINE)
        if code in defined
    }
    assert len(defined) == len(kinds())
    assert severities == {code: severity for code, severity in defined.items() if code not in SIZES | WRITTEN}


def test_the_fields_of_pods_are_those_of_the_schema() -> None:
    for owner, *steps in (*pod_fields.WORDS, *pod_fields.RANGES, *pod_texts.FORMS, *pod_fields.NEEDED):
        at = owner
        for step in steps:
            at = fields(at)[step]
    for owner, (choices, _) in pod_fields.ONE_OF.items():
        assert fields(owner).keys() & choices or not choices


SCALARS = st.sampled_from(
    [None, True, 0, 1.5, -1, "", "x", "{{item.x}}", "{{=tasks.a.outputs}}", "{{inputs", "a && b"]
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["name", "value", "template", "tasks", "parameters", "x"]), inner, max_size=3
        )
    ),
    max_leaves=5,
)


OBJECTS = Path(__file__).parent / "apiserver" / "kinds" / "right.yaml"


def places(node: Any, path: Steps = ()) -> Iterator[Steps]:
    """The paths of all values in a value, but for the whole."""
    steps = node.items() if is_mapping(node) else enumerate(node) if is_list(node) else ()
    for step, each in steps:
        yield (*path, step)
        yield from places(each, (*path, step))


@pytest.mark.parametrize("body", documents(OBJECTS), ids=lambda body: f"{body['apiVersion']}-{body['kind']}")
def test_a_tag_may_stand_for_any_value_of_an_object(body: Object) -> None:
    made = [body]
    for path in places(body):
        made.append(deepcopy(body))
        owner: Any = made[-1]
        for step in path[:-1]:
            owner = owner[step]
        owner[path[-1]] = "TAG"
    texts = [json.dumps(each).replace('"TAG"', "{{workflow.parameters.any}}") for each in made]
    templates = [
        {"name": f"t{at}", "resource": {"action": "create", "manifest": text}}
        for at, text in enumerate(texts)
    ]
    given_later = {"parameters": [{"name": "any"}]}
    found = [*lint(workflow(*templates, arguments=given_later))]
    assert [show(each) for each in found if each.finding.code == "FD559"] == []


@given(st.data())
def test_any_manifest_can_be_linted(data: st.DataObject) -> None:
    """Whichever parts of a manifest are replaced or removed, the result is a list of findings."""
    document = deepcopy(data.draw(st.sampled_from(originals())))
    for _ in range(data.draw(st.integers(1, 4))):
        node: Any = document
        while True:
            step = data.draw(st.sampled_from([key for key, _ in pairs(node)]))
            below: Any = node[step]
            is_end = not (is_mapping(below) or is_list(below)) or not below
            if is_end or data.draw(st.integers(0, 3)) == 0:
                if data.draw(st.booleans()):
                    node[step] = data.draw(ANYTHING)
                else:
                    del node[step]
                break
            node = below
        if not document.get("spec"):
            break
    for problem in lint(document, rules=package.WRITTEN):
        show(problem)


def workflow(*templates: Object, **spec: Any) -> Object:
    """A workflow whose first template is its entrypoint."""
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": "test-"},
        "spec": {"entrypoint": templates[0]["name"], "templates": [*templates], **spec},
    }


def leaf(name: str = "leaf", *parameters: str, **fields: Any) -> Object:
    """A template that echoes its inputs."""
    return {
        "name": name,
        "inputs": {"parameters": [{"name": parameter} for parameter in parameters]},
        "container": {"image": "busybox", "command": ["echo"]},
        **fields,
    }


def dag(name: str, *tasks: Object) -> Object:
    return {"name": name, "dag": {"tasks": [*tasks]}}


def task(name: str, template: str = "leaf", depends: str = "", **values: str) -> Object:
    parameters = [{"name": key, "value": value} for key, value in values.items()]
    made: Object = {"name": name, "template": template, "arguments": {"parameters": parameters}}
    return made | {"depends": depends} if depends else made


def test_a_task_may_use_whatever_it_waits_for_however_far_back() -> None:
    output = {"outputs": {"parameters": [{"name": "o", "valueFrom": {"path": "/o"}}]}}
    tasks = [task("t0", v="x")]
    tasks += [
        task(f"t{i}", depends=f"t{i - 1}", v="a {{tasks.t0.outputs.parameters.o}}") for i in range(1, 150)
    ]
    assert codes(workflow(dag("main", *tasks), leaf("leaf", "v", **output))) == []
    tasks[75]["depends"] = "t76"
    tasks[76]["depends"] = "t74"
    assert codes(workflow(dag("main", *tasks), leaf("leaf", "v", **output))) == []
    del tasks[140]["depends"]
    found = lint(workflow(dag("main", *tasks), leaf("leaf", "v", **output)))
    assert [problem.path[5] for problem in found] == [*range(140, 150)]


@given(st.lists(st.lists(st.integers(0, 11), max_size=3), min_size=12, max_size=12))
def test_the_order_of_a_dag(needs: list[list[int]]) -> None:
    names = [f"t{number}" for number in range(len(needs))]
    made = Dag(
        [
            {"name": name, "dependencies": [names[i] for i in each]}
            for name, each in zip(names, needs, strict=True)
        ]
    )
    before = {number: set(each) for number, each in enumerate(needs)}
    for _ in needs:
        before = {number: each.union(*(before[other] for other in each)) for number, each in before.items()}
    cyclic = any(number in each for number, each in before.items())
    assert bool(cycles(made.needs)) == cyclic == (not made.is_sound)
    for cycle in cycles(made.needs):
        assert all(after in needs[at] for at, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    if not cyclic:
        pairs = {(first, second) for first in range(12) for second in range(12)}
        assert made.reached(pairs) == {(first, second) for first, second in pairs if first in before[second]}


def misspelt(count: int) -> Object:
    """A workflow in which each task misspells its template, and a task whose output it uses."""
    tasks: list[Object] = [
        {
            "name": f"train-{one:04}",
            "template": f"fitt-{one:04}",
            "arguments": {
                "parameters": [{"name": "p", "value": f"{{{{tasks.trian-{one:04}.outputs.result}}}}"}]
            },
        }
        for one in range(count)
    ]
    container = {"image": "busybox:1.36", "args": ["{{inputs.parameters.p}}"]}
    inputs = {"parameters": [{"name": "p"}]}
    templates = [{"name": f"fit-{one:04}", "inputs": inputs, "container": container} for one in range(count)]
    spec = {"entrypoint": "main", "templates": [{"name": "main", "dag": {"tasks": tasks}}, *templates]}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "w"},
        "spec": spec,
    }


@pytest.mark.parametrize("count", [400, 1200])
def test_a_mistake_that_many_names_have(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: Counter[str] = Counter()
    ratio: Callable[[SequenceMatcher[str]], float] = SequenceMatcher[str].ratio

    def count_it(matcher: SequenceMatcher[str]) -> float:
        counted["ratio"] += 1
        return ratio(matcher)

    monkeypatch.setattr(SequenceMatcher, "ratio", count_it)
    found = [show(problem) for problem in lint(misspelt(count))]
    assert sum("did you mean `fit-" in one for one in found) == count
    assert sum("did you mean `tasks.train-" in one for one in found) == count
    assert counted["ratio"] < 50 * count


def test_producers_in_more_than_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowdsl.compiler.lint.manifest.dag.BATCH", 2)
    made = Dag([{"name": "0"}, *({"name": str(i), "dependencies": [str(i - 1)]} for i in range(1, 8))])
    pairs = {(first, second) for first in range(8) for second in range(8)}
    assert made.reached(pairs) == {(first, second) for first, second in pairs if first < second}


def test_an_inline_template_sees_what_is_around_it() -> None:
    inner: Object = {
        "container": {
            "image": "x",
            "command": ["y"],
            "args": ["{{item.a}} {{=tasks.one.status}} {{inputs.parameters.q}}"],
        }
    }
    tasks: list[Object] = [
        {"name": "one", "template": "leaf"},
        {"name": "two", "inline": inner, "withItems": [{"a": 1}], "depends": "one"},
    ]
    main: Object = {**dag("main", *tasks), "inputs": {"parameters": [{"name": "q", "value": "x"}]}}
    assert codes(workflow(main, leaf())) == []
    del tasks[1]["depends"]
    assert codes(workflow(main, leaf())) == ["FD542"]
    nested = {"dag": {"tasks": [{"name": "deep", "inline": inner}]}}
    main["dag"]["tasks"][1] = {"name": "two", "inline": nested, "withParam": "[]", "depends": "one"}
    # The tasks are those of the nearest DAG, which has no `one`.
    assert codes(workflow(main, leaf())) == ["FD540"]


def test_one_mistake_is_reported_once() -> None:
    document = workflow(leaf(timeout="5 m"))
    document["spec"]["entrypont"] = document["spec"].pop("entrypoint")
    assert codes(document) == ["FD403", "FD560"]
    document = workflow(leaf())
    document["spec"]["templates"][0]["container"]["resources"] = {"limits": {"memory": "8GB"}}
    assert codes(document) == ["FD580"]  # the rule knows the right spelling, the schema only the form
    document["spec"]["templates"].append({"name": "other", "contaner": {"image": "x"}})
    assert codes(document) == ["FD403", "FD580"]
    del document["spec"]["entrypoint"]
    document["spec"] |= {"parallelism": 0, "volumes": 5}
    assert codes(document) == ["FD403", "FD410", "FD405", "FD580"]
    document["spec"]["volumes"] = []
    assert codes(document) == ["FD403", "FD410", "FD510", "FD580"]


def test_what_a_referenced_template_has_is_not_guessed() -> None:
    document = workflow(leaf(), workflowTemplateRef={"name": "library"})
    document["spec"] |= {"entrypoint": "theirs", "hooks": {"exit": {"template": "theirs"}}, "templates": []}
    document["spec"]["podSpecPatch"] = "nodeName: '{{workflow.parameters.theirs}}'"
    assert codes(document) == []


def test_annotations_are_not_longer_than_kubernetes_takes() -> None:
    def run(where: str, notes: Object) -> Object:
        body = {"name": "main", "container": {"image": "a:1", "command": ["ls"]}}
        places: Object = {"metadata": {}, "podMetadata": {}, "template": {}}
        places[where] = {"annotations": notes}
        return {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Workflow",
            "metadata": {"generateName": "a-", **places["metadata"]},
            "spec": {
                "entrypoint": "main",
                "podMetadata": places["podMetadata"],
                "templates": [{**body, "metadata": places["template"]}],
            },
        }

    for where in ("metadata", "podMetadata", "template"):
        assert codes(run(where, {"a": "x" * 131_071, "b": "y" * 131_071})) == []
        assert codes(run(where, {"a": "x" * 131_071, "b": "y" * 131_072})) == ["FD505"]
    assert codes(run("template", {"a": "{{workflow.name}}" + "x" * 262_144})) == []


def test_sizes() -> None:
    def items(count: int) -> Object:
        loop = task("t", v="{{item.v}}")
        loop["withItems"] = [{"i": f"/{i}", "v": "é" * 45} for i in range(count)]
        return workflow(dag("main", loop), leaf("leaf", "v"))

    assert codes(items(3000)) == []
    assert codes(items(6000)) == ["FD596"]
    assert codes(items(20_000)) == ["FD595"]
    echo: Object = {"image": "busybox", "command": ["echo", "{{inputs.parameters.v}}"]}
    by_env: Object = {
        "image": "busybox",
        "command": ["env"],
        "env": [{"name": "V", "value": echo["command"][1]}],
    }
    by_args: Object = {"image": "busybox", "command": ["echo"], "args": echo["command"][1:]}
    long = {"parameters": [{"name": "v", "value": "x" * 131_073}]}
    for container, expected in ((by_env, ["FD597"]), (by_args, ["FD867"]), ({**echo, **by_args}, ["FD867"])):
        assert codes(workflow(leaf("leaf", "v", container=container), arguments=long)) == expected
    for field, expected in (("command", ["FD362"]), ("args", ["FD867"])):
        written: Object = {"image": "busybox", "command": ["echo"], field: ["x" * 131_073]}
        assert codes(workflow(leaf(container=written))) == expected
    first = {**leaf("leaf", "v"), "initContainers": [{**by_args, "name": "first"}]}
    assert codes(workflow(first, arguments=long)) == ["FD597"]
    for value, expected in (("x" * 131_072, []), ("x" * 131_073, ["FD597"]), ("é" * 65_537, ["FD597"])):
        given = {"parameters": [{"name": "v", "value": value}]}
        assert codes(workflow(leaf("leaf", "v", container=echo), arguments=given)) == expected
        call = dag("main", task("t", v=value))
        assert codes(workflow(call, leaf("leaf", "v", container=echo))) == expected
        default = {"parameters": [{"name": "v", "default": value}]}
        assert codes(workflow(leaf(inputs=default, container=echo))) == expected
        # The content of a file may have any size.
        raw = {
            "parameters": [{"name": "v"}],
            "artifacts": [{"name": "a", "path": "/a", "raw": {"data": echo["command"][1]}}],
        }
        assert codes(workflow(call, leaf(inputs=raw))) == []
        through = dag("main", task("t", v="{{workflow.parameters.v}}"))
        assert codes(workflow(through, leaf("leaf", "v", container=echo), arguments=given)) == expected
        assert codes(workflow(through, leaf(inputs=raw), arguments=given)) == []
    for source, expected in (("x" * 131_072, []), ("x" * 131_073, ["FD598"])):
        script: Object = {"image": "x", "command": ["y"], "source": source}
        assert codes(workflow({"name": "main", "script": script})) == expected
    for size, code in (
        (600_000, "FD596"),
        (1_100_000, "FD595"),
    ):  # one cause is one finding, with its own way out
        script = {"image": "x", "command": ["y"], "source": "x" * size}
        (found,) = lint(workflow({"name": "main", "script": script}))
        assert (found.finding.code, found.path[-2:]) == (code, ("script", "source"))
        assert found.finding.advice.startswith("keep the code in the image")


def test_the_status_of_many_nodes_is_estimated() -> None:
    def runs(count: int, inner: int = 1) -> Object:
        loop = {**task("t"), "withSequence": {"count": str(count)}}
        tasks = [{**task(f"t{number}"), "template": "work"} for number in range(inner)]
        return workflow(dag("main", loop), dag("leaf", *tasks), leaf("work"))

    assert codes(runs(5000)) == []
    assert codes(runs(7000)) == ["FD774"]
    assert codes(runs(500, 20)) == []
    assert codes(runs(500, 30)) == ["FD774"]
    recursive = workflow(dag("main", {**task("t"), "template": "main", "when": "1 == 2"}), leaf("leaf"))
    assert "FD774" not in codes(recursive)


@pytest.mark.parametrize("item", [{"a": "x", "b": "é"}, {"a": 1, "b": [None]}, {}, "text", ["x"]])
def test_the_size_is_that_of_the_json(item: object) -> None:
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.lint.pods.limits import object_size

    loop = task("t")
    document = workflow(dag("main", loop), leaf("leaf"))
    count = 600_000 // (len(json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode()) + 1)
    loop["withItems"] = [item] * count
    size = len(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())
    (problem,) = object_size(View(document))
    assert vars(problem.finding)["size"] == size // 1024


def test_a_reference_to_every_task_of_a_wide_graph() -> None:
    output = {"outputs": {"parameters": [{"name": "o", "valueFrom": {"path": "/o"}}]}}
    tasks = [task(f"t{i}", v="x") for i in range(190)]
    names = " && ".join(f"t{i}" for i in range(190))
    values = "".join(f"{{{{tasks.t{i}.outputs.parameters.o}}}}" for i in range(190))
    tasks.append(task("last", depends=names, v=values))
    assert codes(workflow(dag("main", *tasks), leaf("leaf", "v", **output))) == []
    tasks[-1]["depends"] = names.removesuffix(" && t189")
    assert codes(workflow(dag("main", *tasks), leaf("leaf", "v", **output))) == ["FD542"]


def test_loops_inside_of_each_other_however_deep() -> None:
    def nested(count: int) -> list[str]:
        names = [*(f"m{number}" for number in range(count)), "leaf"]
        graphs = [
            {**dag(one, {**task("a", inner, v="{{item}}"), "withParam": "{{inputs.parameters.v}}"}), **taken}
            for one, inner in pairwise(names)
        ]
        main = dag("main", task("a", "m0", v="{{workflow.parameters.v}}"))
        return codes(workflow(main, *graphs, leaf("leaf", "v"), arguments=taken["inputs"]))

    taken = {"inputs": {"parameters": [{"name": "v"}]}}
    assert nested(90) == []
    assert nested(400) == ["FD408"]  # so many templates


def test_a_value_from_the_last_of_many_loops() -> None:
    lists = {f"l{number}": '["busybox:1"]' for number in range(150)} | {"last": '["busybox:"]'}
    loops = [
        {**task(name, v="{{item}}"), "withParam": f"{{{{workflow.parameters.{name}}}}}"} for name in lists
    ]
    image = leaf("leaf", "v", container={"image": "{{inputs.parameters.v}}", "command": ["echo"]})
    given = {"parameters": [{"name": name, "value": value} for name, value in lists.items()]}
    (found,) = lint(workflow(dag("main", *loops), image, arguments=given))
    assert (found.finding.code, str(at(given, found.path[2:]))) == ("FD776", '["busybox:"]')


def test_what_the_api_server_drops_is_not_there() -> None:
    document = workflow(leaf(timeout=None, retryStrategy=None), arguments=None, hooks=None, volumes=None)
    assert codes(document) == []
    document = workflow(
        dag("main", {"name": "a", "template": "leaf", "depends": None, "when": None, "arguments": None}),
        leaf(),
    )
    assert codes(document) == []


#: Texts with a deep syntax tree, by their number of parts.
DEEP: dict[str, Callable[[int], str]] = {
    "sum": lambda count: "+".join(["1"] * count),
    "members": lambda count: "workflow" + ".a" * count,
    "pipe": lambda count: "1" + " | string()" * count,
    "conditions": lambda count: " || ".join(["true"] * count),
    "signs": lambda count: "!" * count + "true",
    "comparisons": lambda count: " < ".join(["1"] * count),
    "powers": lambda count: "**".join(["1"] * count),
    "choices": lambda count: "true ? 1 : " * count + "1",
    "names": lambda count: "".join(f"let a{number} = 1;" for number in range(count)) + "1",
}


@pytest.mark.parametrize("form", DEEP)
def test_an_expression_is_judged_or_refused_however_deep_it_is(form: str) -> None:
    def found(count: int) -> set[str]:
        value = f"{{{{={DEEP[form](count)}}}}}"
        return set(codes(workflow(dag("main", task("a", v=value)), leaf("leaf", "v"))))

    assert "FD547" not in found(95)
    for count in range(96, 204, 5):
        found(count)
    assert ("FD547" in found(3000)) == (form != "conditions")
    assert found(6000) == {"FD547"}


@pytest.mark.parametrize("source", ["print({}1)".format("-" * 100_000), "print({}b)".format("a." * 50_000)])
def test_a_script_that_is_too_deep_for_python_is_left_alone(source: str) -> None:
    script = {"image": "python:3.12", "command": ["python"], "source": source}
    document = workflow({"name": "main", "script": script})
    assert [problem.finding.code for problem in lint(document, rules=package.WRITTEN)] == []


def test_templates_of_other_objects_may_be_deeper_than_the_stack_of_python() -> None:
    count = 1100
    last: Object = {"name": "main", "container": {"image": "a:1", "command": ["x"]}}
    chain = [
        {"name": "main", "steps": [[{"name": "a", "templateRef": {"name": f"t{index}", "template": "main"}}]]}
        for index in range(1, count)
    ]
    objects: list[Object] = [
        {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "WorkflowTemplate",
            "metadata": {"name": f"t{index}"},
            "spec": {"templates": [template]},
        }
        for index, template in enumerate([*chain, last])
    ]
    assert lint(objects[0], package.shelf(objects), package.WRITTEN) == []
