"""The YAML of each construct: the cases in tests/lowering, and the texts that were proved on a cluster."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any

import pytest
import yaml

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from tests.goldens import same
from tests.snippets import compile_body

STANDING = {PurePath("/"), PurePath("/tmp"), PurePath("/dev")}
"""Folders that every image has."""
Json = dict[str, Any]
CASES = sorted((Path(__file__).parent / "lowering").glob("*.py"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_the_yaml_of_each_construct(case: Path, request: pytest.FixtureRequest) -> None:
    compiled = compile_loaded(load(case))
    assert [one.finding.message for one in compiled.diagnostics] == []
    same(compiled.text, case.with_suffix(".yaml"), request)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_outputs_are_in_no_folder_that_belongs_to_root(case: Path) -> None:
    """The kubelet creates the parents of mounts as root, so a step with another user could not write there."""
    for document in yaml.safe_load_all(case.with_suffix(".yaml").read_text(encoding="utf-8")):
        templates: list[Json] = document["spec"].get("templates", [])
        for template in templates:
            container: Json = template.get("script") or template.get("container") or {}
            mounts = [PurePath(one["mountPath"]) for one in container.get("volumeMounts", [])]
            files: list[Json] = template.get("inputs", {}).get("artifacts", [])
            mounted = [*mounts, *[PurePath(one["path"]) for one in files if "path" in one]]
            made = {folder for one in mounted for folder in one.parents} - STANDING
            outputs: Json = template.get("outputs", {})
            places: list[Json] = [*outputs.get("artifacts", []), *outputs.get("parameters", [])]
            for place in places:
                path = PurePath(place.get("path") or place.get("valueFrom", {}).get("path") or "/")
                if not any(path.is_relative_to(one) for one in mounts):
                    assert made.isdisjoint(path.parents), (template["name"], path)


@pytest.mark.parametrize("folder", ["/tmp/flowdsl", "/tmp/flowdsl-out"])
def test_the_folders_of_flowdsl_are_for_nothing_else(tmp_path: Path, folder: str) -> None:
    before = f"""
        from flowdsl import Scratch, command, container
        @step(image="i:1", mounts={{«"{folder}/mine"»: Scratch("1Gi")}})
        def mounting() -> None: ...
        @container(image="i:1")
        def writing() -> Path:
            return command("tool", paths={{"return": «"{folder}/mine"»}})
    """
    found = compile_body(tmp_path, "mounting()\nwriting()", before)
    assert found.findings() == [("FD284", f'"{folder}/mine"'), ("FD752", f'"{folder}/mine"')]


def test_a_size_may_be_a_number_of_bytes(tmp_path: Path) -> None:
    before = """
        from flowdsl import NewVolume, Scratch
        @step(image="i:1", mounts={"/near": Scratch(2**31), "/far": NewVolume("far", 10**20)})
        def mounting() -> None: ...
    """
    found = compile_body(tmp_path, "mounting()", before)
    assert found.findings() == []
    assert 'sizeLimit: "2147483648"' in found.compiled.text
    assert 'storage: "100000000000000000000"' in found.compiled.text


HEAD = """
import functools
from enum import Enum
from pathlib import Path, PurePath
from typing import Literal, NamedTuple
from flowdsl import *

class Mode(Enum):
    FAST = 1

class Both(NamedTuple):
    file: Path
    size: int
    notes: dict[str, list[int]]

I = "python:3.12-slim"

@step(image=I)
def number() -> int:
    return 1

@step(image=I)
def real() -> float:
    return 1.0

@step(image=I)
def text() -> str:
    return "x"

@step(image=I)
def flag() -> bool:
    return True

@step(image=I)
def maybe() -> str | None:
    return None

@step(image=I)
def mode() -> Mode:
    return Mode.FAST

@step(image=I)
def both() -> Both:
    return Both(Path("x"), 1, {})

@step(image=I)
def whole(x: int) -> None: ...

@step(image=I)
def point(x: float) -> None: ...

@step(image=I)
def word(x: str) -> None: ...

@step(image=I)
def yes(x: bool) -> None: ...

@step(image=I)
def words(x: list[str]) -> None: ...

@step(image=I)
def table(x: dict[str, float]) -> None: ...

@step(image=I)
def option(x: str | None) -> None: ...

@step(image=I)
def anything(x: object) -> None: ...

@step(image=I)
@functools.lru_cache
def cached(x: str) -> int:
    return len(x)
"""


def tasks(tmp_path: Path, body: str, parameters: str = "") -> dict[str, dict[str, Any]]:
    """The tasks of a pipeline by name."""
    file = tmp_path / "case.py"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    file.write_text(f"{HEAD}\n@pipeline\ndef case({parameters}) -> None:\n{lines}")
    compiled = compile_loaded(load(file))
    assert not compiled.failed, [one.finding.message for one in compiled.diagnostics]
    return {one["name"]: one for one in compiled.documents[0]["spec"]["templates"][0]["dag"]["tasks"]}


N = "tasks['n'].outputs.parameters['return']"
F = "tasks['f'].outputs.parameters['return']"
M = "tasks['o'].outputs.parameters['return']"
T = "tasks['t'].outputs.parameters['return']"


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("whole(n)", "{{tasks.n.outputs.parameters.return}}"),
        ("whole(n + 1)", f"{{{{=asInt({N}) + 1}}}}"),
        ("whole(2 * n - -3)", f"{{{{=(2 * asInt({N})) - (-3)}}}}"),
        ("whole((n + 1) * n)", f"{{{{=(asInt({N}) + 1) * asInt({N})}}}}"),
        ("point(n)", "{{tasks.n.outputs.parameters.return}}"),
        ("point(n / 2)", f"{{{{=asInt({N}) / 2}}}}"),
        ("point(f * 2)", f"{{{{=asFloat({F}) * 2}}}}"),
        ("point(f + n * 1e-05)", f"{{{{=asFloat({F}) + (asInt({N}) * 1e-05)}}}}"),
        ("point(3)", "3.0"),
        ("whole(True)", "1"),
        ("yes(n > 3)", f"{{{{=asInt({N}) > 3}}}}"),
        ("yes((f <= 0.5) & (t == 'a'))", f"{{{{=(asFloat({F}) <= 0.5) && ({T} == 'a')}}}}"),
        ("yes((n != 1) | (t < 'b'))", f"{{{{=(asInt({N}) != 1) || ({T} < 'b')}}}}"),
        ("word(t)", "{{tasks.t.outputs.parameters.return}}"),
        ("word('a ' + t)", "a {{tasks.t.outputs.parameters.return}}"),
        (
            "word(t + t)",
            "{{=(tasks['t'].outputs.parameters['return'] + tasks['t'].outputs.parameters['return'])}}",
        ),
        ("word(f'{n}{t}')", "{{tasks.n.outputs.parameters.return}}{{tasks.t.outputs.parameters.return}}"),
        (
            "word(f'{n} of {t}')",
            "{{tasks.n.outputs.parameters.return}} of {{tasks.t.outputs.parameters.return}}",
        ),
        ("word(f'{n + 1} of {run.name}')", f"{{{{=asInt({N}) + 1}}}} of {{{{workflow.name}}}}"),
        ("word(run.namespace)", "{{workflow.namespace}}"),
        ("word('$HOME')", "$HOME"),
        ("words(['a', t])", f'["a", {{{{=toJSON({T})}}}}]'),
        ("words(['{{', '$', '\\x07'])", '["\\u007b\\u007b", "\\u0024", "\\u0007"]'),
        ("words([f'{n}-{t}'])", f"[{{{{=toJSON(({N} + '-' + {T}))}}}}]"),
        ("table({'a': f, 'b': 2})", '{"a": {{tasks.f.outputs.parameters.return}}, "b": 2.0}'),
        ("table({'a': f / 2})", f'{{"a": {{{{=asFloat({F}) / 2}}}}}}'),
        ("option(t)", f"{{{{=toJSON({T})}}}}"),
        ("option(None)", "null"),
        ("option('x')", '"x"'),
        ("option(o)", "{{tasks.o.outputs.parameters.return}}"),
        (
            "word(either(o, 'none'))",
            "{{=(OO == 'null' ? 'none' : fromJSON(OO))}}".replace("OO", N.replace("'n'", "'o'")),
        ),
        (
            "anything([n, {'a': t}])",
            f'[{{{{tasks.n.outputs.parameters.return}}}}, {{"a": {{{{=toJSON({T})}}}}}}]',
        ),
        ("whole(b.size)", "{{tasks.b.outputs.parameters.size}}"),
        (
            "whole(b.notes['x'][0])",
            (
                "{{=(abs(fromJSON(tasks['b'].outputs.parameters['notes'])['x'][0]) < 9007199254740992"
                " ? int(fromJSON(tasks['b'].outputs.parameters['notes'])['x'][0])"
                " : fromJSON('Argo rounds whole numbers beyond 53 bits'))}}"
            ),
        ),
        ("yes(m == Mode.FAST)", "{{=tasks['m'].outputs.parameters['return'] == 'FAST'}}"),
        ("word(p)", "{{inputs.parameters.p}}"),
        ("whole(q * 2)", "{{=asInt(inputs.parameters['q']) * 2}}"),
        ("yes(z)", "{{inputs.parameters.z}}"),
        ("yes(z == (n > 1))", f"{{{{=(inputs.parameters['z'] == 'true') == (asInt({N}) > 1)}}}}"),
    ],
)
def test_a_value_becomes_the_text_that_was_proved(tmp_path: Path, call: str, value: str) -> None:
    made = "n = number()\nf = real()\nt = text()\no = maybe()\nm = mode()\nb = both()\n"
    found = tasks(tmp_path, made + f"end = {call}", "p: str = 'x', q: int = 1, z: bool = True")
    assert found["end"]["arguments"]["parameters"][0]["value"] == value


@pytest.mark.parametrize(
    ("condition", "when"),
    [
        ("when(n > 1)", f"{{{{=asInt({N}) > 1}}}}"),
        ("unless(n > 1)", f"{{{{=not(asInt({N}) > 1)}}}}"),
        ("when(z)", "{{=inputs.parameters['z'] == 'true'}}"),
        ("unless(z)", "{{=not(inputs.parameters['z'] == 'true')}}"),
        ("when(y)", "{{=tasks['y'].outputs.parameters['return'] == 'true'}}"),
        ("when(o == None)", "{{=tasks['o'].outputs.parameters['return'] == 'null'}}"),
        ("when(t == '}} it\\'s')", f"{{{{={T} == ('}}' + '}} it\\'s')}}}}"),
    ],
)
def test_a_condition_becomes_one_expression(tmp_path: Path, condition: str, when: str) -> None:
    made = "n = number()\nt = text()\no = maybe()\ny = flag()\n"
    found = tasks(tmp_path, f"{made}with {condition}:\n    word('x')", "z: bool = True")
    assert found["word"]["when"] == when


def test_no_expression_uses_let_and_none_holds_the_end_of_a_tag() -> None:
    for case in CASES:
        text = case.with_suffix(".yaml").read_text(encoding="utf-8")
        assert "let " not in text.replace("outlet ", "")


def test_a_step_may_be_a_function_in_a_decorator_that_is_written_in_c(tmp_path: Path) -> None:
    assert tasks(tmp_path, "cached('x')") == {
        "cached": {
            "name": "cached",
            "template": "cached",
            "arguments": {"parameters": [{"name": "x", "value": "x"}]},
        }
    }


def test_what_the_pipeline_prefers_stays_beside_what_a_step_requires(tmp_path: Path) -> None:
    prefers: dict[str, Json] = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}]
        },
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []},
    }
    file = tmp_path / "pipeline.py"
    file.write_text(
        "from flowdsl import GPU, pipeline, step\n"
        '@step(image="python:3.12-slim", gpu=GPU(1, memory="40Gi"))\n'
        "def train() -> None: ...\n"
        f"@pipeline(argo={{'affinity': {prefers}}})\n"
        "def both() -> None:\n    train()\n",
        encoding="utf-8",
    )
    memory = {"key": "nvidia.com/gpu.memory", "operator": "Gt", "values": ["40959"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [memory]}]}
    train = yaml.safe_load(compile_loaded(load(file)).text)["spec"]["templates"][1]
    assert train["affinity"] == {
        **prefers,
        "nodeAffinity": {
            **prefers["nodeAffinity"],
            "requiredDuringSchedulingIgnoredDuringExecution": required,
        },
    }
