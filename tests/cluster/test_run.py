"""The stand-in's graphs and loops against what a real controller did."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cluster.manifests import ECHO, WRITE, dag, log, phases, script, task, workflow
from tests.cluster.node import ERROR, FAILED, OMITTED, SKIPPED, SUCCEEDED, Hang, Json, LiteralTag
from tests.cluster.run import Cluster, Run
from tests.cluster.syntax import Unsupported

# --- graphs ----------------------------------------------------------------------------------------

OK = script("ok", "")
BAD = script("bad", "raise SystemExit('no')")


def test_failure_and_conditions(cluster: Cluster) -> None:
    tasks = (
        task("f", "bad"),
        task("after", "ok", "f && fine"),
        task("behind", "ok", "after"),
        task("fine", "ok"),
        task("skipped", "ok", "fine", when="{{=1 > 2}}"),
        task("next", "ok", "skipped && fine"),
    )
    run = cluster.run(workflow(dag(*tasks), OK, BAD))
    wanted = {
        "f": FAILED,
        "after": OMITTED,
        "behind": OMITTED,
        "fine": SUCCEEDED,
        "skipped": SKIPPED,
        "next": SUCCEEDED,
    }
    assert phases(run) == {"": FAILED, **wanted}
    assert log(run, "f") == "no\n"


def test_the_output_of_a_skipped_task(cluster: Cluster) -> None:
    make, show = script("make", WRITE.format("'made'"), outputs=("v",)), script("show", ECHO, ("v",))
    default = {**show, "name": "default", "inputs": {"parameters": [{"name": "v", "default": "[]"}]}}
    tag = "{{tasks.g.outputs.parameters.v}}"
    tasks = (
        task("g", "make", when="false"),
        task("plain", "show", "g", v=tag),
        task("longer", "default", "g", v=f"x {tag}"),
        task("default", "default", "g", v=tag),
        task("else", "show", "g", v="{{=tasks['g'].outputs.parameters['v'] ?? 'else'}}"),
        task("status", "show", "g", v="{{=tasks.g.status == 'Skipped' ? 'skipped' : 'ran'}}"),
    )
    run = cluster.run(workflow(dag(*tasks), make, show, default))
    assert (phases(run)["plain"], phases(run)["longer"]) == (ERROR, ERROR)
    assert "argument references an absent optional" in run.nodes["wf-00001.plain"].message
    assert [log(run, name) for name in ("default", "else", "status")] == ["'[]'", "'else'", "'skipped'"]


def test_outputs_of_a_graph(cluster: Cluster) -> None:
    make = script("make", WRITE.format("'7'"), outputs=("v",))
    inner = dag(
        task("g", "make"),
        task("no", "make", when="false"),
        name="inner",
        inputs=("x",),
        outputs={
            "parameter": {"parameter": "{{tasks.g.outputs.parameters.v}}"},
            "expression": {"expression": "inputs.parameters['x'] + tasks['g'].outputs.parameters['v']"},
            "fallback": {"expression": "tasks.no.outputs.parameters.v ?? 'fallback'"},
            "default": {"parameter": "{{tasks.no.outputs.parameters.v}}", "default": "given"},
            "float": {"expression": "asFloat(tasks.g.outputs.parameters.v) * 1000000"},
        },
    )
    names = ("parameter", "expression", "fallback", "default", "float")
    outs = {name: {"parameter": f"{{{{tasks.sub.outputs.parameters.{name}}}}}"} for name in names}
    run = cluster.run(workflow(dag(task("sub", "inner", x="{{=1 + 1}}"), outputs=outs), inner, make))
    assert run.entry.parameters == dict(zip(names, ("7", "27", "fallback", "given", "7e+06"), strict=True))


@pytest.mark.parametrize(
    "bad",
    [
        {"expression": "tasks.g.outputs.parameters.v * 2"},
        {"expression": "nosuch"},
        {"parameter": "{{tasks.x.status}}"},
    ],
)
def test_an_output_that_fails_in_a_sub_graph_hangs(cluster: Cluster, bad: Json) -> None:
    make = script("make", WRITE.format("'7'"), outputs=("v",))
    inner = dag(task("g", "make"), name="inner", outputs={"v": bad})
    with pytest.raises(Hang):
        cluster.run(workflow(dag(task("sub", "inner")), inner, make))
    inner["name"] = "main"
    assert cluster.run(workflow(inner, make)).phase == ERROR


@pytest.mark.parametrize(
    "value", ["{{tasks.g.outputs.parameters.typo}}", "{{=tasks.g.outputs.parameters.typo}}"]
)
def test_an_output_that_does_not_exist_hangs(cluster: Cluster, value: str) -> None:
    with pytest.raises(Hang):
        cluster.run(
            workflow(dag(task("g", "ok"), task("s", "show", "g", v=value)), OK, script("show", ECHO, ("v",)))
        )


@pytest.mark.parametrize(
    "value", ["{{=inputs.parameters.typo}}", "{{=nosuch}}", "{{inputs.parameters.typo}}"]
)
def test_text_that_would_pass_instead_of_a_value_is_refused(cluster: Cluster, value: str) -> None:
    with pytest.raises(LiteralTag):
        cluster.run(workflow(dag(task("s", "show", v=value)), script("show", ECHO, ("v",))))


def test_an_output_that_is_not_written_is_an_error(cluster: Cluster) -> None:
    run = cluster.run(workflow(script("main", "", outputs=("v",))))
    assert run.phase == ERROR
    assert "No such file" in run.entry.message


@pytest.mark.parametrize(
    "change",
    [
        {"steps": list[Json]()},
        {"dag": {"tasks": list[Json](), "failFast": False}},
        {"dag": {"tasks": [{"name": "a", "template": "ok", "hooks": dict[str, Json]()}]}},
        {"dag": {"tasks": [{"name": "a", "template": "ok", "depends": "b.Failed"}]}},
    ],
)
def test_what_the_compiler_does_not_write_is_refused(cluster: Cluster, change: Json) -> None:
    with pytest.raises(Unsupported):
        cluster.run(workflow({"name": "main", "inputs": {"parameters": []}, **change}, OK))


def test_an_inline_template_is_text_of_its_task(cluster: Cluster) -> None:
    """Inputs of the graph around it are put into it first; a loop knows no inputs at all."""
    inline = script("show", ECHO, ("v",))
    del inline["name"]
    given = {"parameters": [{"name": "v", "value": "inner"}]}
    one = {"name": "one", "inline": inline, "arguments": given}
    assert log(cluster.run(workflow(dag(one))), "one") == "'inner'"
    assert log(cluster.run(workflow(dag(one, inputs=("v",)), v="outer")), "one") == "'outer'"
    looped = cluster.run(workflow(dag({**one, "withItems": ["x"]})))
    assert phases(looped)["one"] == ERROR


# --- loops -----------------------------------------------------------------------------------------

TRIAL = script(
    "trial", "import os\n" + WRITE.format("'v' + str(1 / (3 - int(os.environ['i'])))"), ("i",), ("v",)
)
TRIAL["outputs"]["parameters"].append({"name": "i", "value": "{{inputs.parameters.i}}"})


def loop(**fields: Any) -> Json:
    rows = {"results": {"parameter": "{{tasks.t.outputs.parameters}}", "default": "[]"}}
    return dag(task("t", "trial", i="{{item}}", **fields), outputs=rows)


def rows(run: Run) -> list[dict[str, str]]:
    assert run.entry.parameters is not None
    found: list[dict[str, str]] = json.loads(run.entry.parameters["results"])
    return found


def test_rows_of_a_loop(cluster: Cluster) -> None:
    going = {"failed": True, "error": True}
    run = cluster.run(workflow(loop(withItems=["1", "3", "2"], continueOn=going), TRIAL))
    assert run.phase == SUCCEEDED
    assert rows(run) == [{"v": "v0.5", "i": "1"}, {"v": "v1.0", "i": "2"}]
    assert rows(cluster.run(workflow(loop(withItems=["3"], continueOn=going), TRIAL))) == []
    assert cluster.run(workflow(loop(withItems=["1", "3"]), TRIAL)).phase == FAILED


def test_a_loop_over_numbers_and_over_nothing(cluster: Cluster) -> None:
    run = cluster.run(workflow(loop(withParam="{{=toJSON(0..len(fromJSON('[7, 7, 7]'))-1)}}"), TRIAL))
    assert [row["i"] for row in rows(run)] == ["0", "1", "2"]
    empty = cluster.run(workflow(loop(withParam="{{=toJSON(0..-1)}}"), TRIAL))
    assert (empty.phase, phases(empty)["t"], rows(empty)) == (SUCCEEDED, SKIPPED, [])
    assert phases(cluster.run(workflow(loop(withParam="{}"), TRIAL)))["t"] == ERROR


def test_loops_in_loops(cluster: Cluster) -> None:
    inner = loop(withItems=["1", "2"])
    inner["name"] = "inner"
    every = {"all": {"parameter": "{{tasks.o.outputs.parameters}}"}}
    main = dag(task("o", "inner", withItems=["a", "b"]), outputs=every)
    run = cluster.run(workflow(main, inner, TRIAL))
    assert run.entry.parameters is not None
    inside = [json.loads(row["results"]) for row in json.loads(run.entry.parameters["all"])]
    assert inside == [[{"v": "v0.5", "i": "1"}, {"v": "v1.0", "i": "2"}]] * 2
