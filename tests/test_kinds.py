"""Steps that no container runs: what their inputs become in objects, requests and URLs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from flowdsl import manifest, request, resource
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.evaluation.sprig_text import TEXTS as TEXTS_OF_SPRIG
from flowdsl.compiler.graph.picture import Node
from flowdsl.compiler.graph.program import picture
from flowdsl.compiler.load import load
from flowdsl.compiler.yaml import documents
from flowdsl.tracing.trace import OutsidePipeline

SOURCE = '''
from flowdsl import *

@resource("apply")
def store(text: str, count: int, rate: float, flag: bool, rows: list[str], note: str | None) -> None:
    manifest({"apiVersion": "example.com/v1", "kind": "Values", "metadata": {"name": run.name}, "data": {
        "text": text, "count": count, "rate": rate, "flag": flag, "rows": rows, "note": note,
        "joined": f"<{text}> of {run.name}", "safe": f"{count} of {run.name}", "list": [text, {"deep": text}],
        "constant": CONSTANT,
    }})

@resource("apply")
def store_text(text: str, count: int, rows: list[str]) -> None:
    manifest(f"""
        apiVersion: example.com/v1
        kind: Values
        metadata:
          name: a
        data:
          text: {text}
          joined: '<{text}> of {count}'
          number: {count}
          quoted: "{count}"
          rows: {rows}
        plain: {PLAIN}
        """)

@http()
def send(text: str, count: int) -> None:
    request("POST", f"https://example.com/{text}/{count}?q={text}", body={"text": text, "all": [f"{count} {text}"]})

@pipeline
def main(
    text: str = "a", count: int = 1, rate: float = 0.5, flag: bool = True, rows: list[str] = [], note: str | None = None
) -> None:
    store(text, count, rate, flag, rows, note)
    store_text(text, count, rows)
    send(text, count)
'''
PLAIN = """[
    yes, no, on, Off, y, N, true, ~, null, 'yes', "1", 0644, 0o17, 08, 1_000, 1e3, 0.5, .5, 1e400, -0x1f, 2024-01-01,
    12:30, .inf.x, =, {on: 1, 8080: 2}
]"""
CONSTANT = 'a {{workflow.name}} $$ $(ARGO_NODE_ID) "b"\n\x07'


def test_a_text_with_inputs_says_what_it_says_without(templates: dict[str, dict[str, Any]]) -> None:
    """Which is what the YAML parsers of Kubernetes tools read."""
    _, found, plain = templates["store-text"]["resource"]["manifest"].partition("plain:")
    (said,), _ = documents.read(found + plain, "said.yaml")
    (written,), _ = documents.read(f"plain: {' '.join(PLAIN.split())}", "written.yaml")
    assert said.body == written.body


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    file = tmp_path_factory.mktemp("kinds") / "case.py"
    plain = " ".join(PLAIN.replace("{", "{{").replace("}", "}}").split())
    source = SOURCE.replace("CONSTANT", repr(CONSTANT)).replace("{PLAIN}", plain)
    file.write_text(source, encoding="utf-8")
    compiled = compile_loaded(load(file))
    assert not compiled.failed, [one.finding.message for one in compiled.diagnostics]
    document = yaml.safe_load(compiled.text)
    return {one["name"]: one for one in document["spec"]["templates"]}


def go_json(text: str) -> str:
    """A text as Go encodes it in JSON."""
    escaped = json.dumps(text, ensure_ascii=False)
    return re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", escaped)


def filled(text: str, values: dict[str, str]) -> str:
    """The text as Argo substitutes it; the few functions in use are replaced by Python's."""
    scope: dict[str, Any] = {
        "replace": str.replace,
        "toJSON": go_json,
        "sprig": type("Sprig", (), {"urlJoin": staticmethod(TEXTS_OF_SPRIG["urlJoin"])}),
        "inputs": type("Inputs", (), {"parameters": values}),
        "workflow": type("Workflow", (), {"name": "run-1"}),
    }

    def fill(tag: re.Match[str]) -> str:
        body = tag[1]
        if body.startswith("="):
            return str(eval(body[1:], {"__builtins__": {}}, scope))  # noqa: S307 -- what the compiler wrote
        return values[body.removeprefix("inputs.parameters.")] if body.startswith("inputs.") else "run-1"

    return re.sub(r"\{\{(.*?)\}\}", fill, text)


# Argo itself loses most control characters, and YAML cannot contain the others.
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]) | st.sampled_from("\n\t\r"), max_size=20)
FIXTURE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


@FIXTURE
@example('"quoted" \\ {{workflow.name}} }} $$ $(A) \n- a: b\t# c', ["{", "$"], 3, 1e-05)
@given(
    TEXTS,
    st.lists(TEXTS, max_size=3),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_a_value_arrives_in_an_object_as_it_is(
    templates: dict[str, dict[str, Any]], text: str, rows: list[str], count: int, rate: float
) -> None:
    values = {
        "text": text,
        "count": str(count),
        "rate": repr(rate),
        "flag": "true",
        "rows": json.dumps(rows, ensure_ascii=False),
        "note": "null",
    }
    said = filled(templates["store"]["resource"]["manifest"], values)
    assert "{{" not in said
    assert "$" not in said
    data = yaml.safe_load(said)["data"]
    # PyYAML parses floats by YAML 1.1; Kubernetes parses them all.
    assert float(data.pop("rate")) == rate
    assert data == {
        "text": text,
        "count": count,
        "flag": True,
        "rows": rows,
        "note": None,
        "joined": f"<{text}> of run-1",
        "safe": f"{count} of run-1",
        "list": [text, {"deep": text}],
        "constant": CONSTANT,
    }
    written = yaml.safe_load(filled(templates["store-text"]["resource"]["manifest"], values))["data"]
    assert written == {
        "text": text,
        "joined": f"<{text}> of {count}",
        "number": count,
        "quoted": str(count),
        "rows": rows,
    }


@FIXTURE
@example('a/b?c=d&e#f%20+ "{{x}}"', 3)
@example("a:ä/é;\\[b]\n", 3)
@given(TEXTS, st.integers())
def test_a_value_arrives_in_a_request_as_it_is(
    templates: dict[str, dict[str, Any]], text: str, count: int
) -> None:
    sent = templates["send"]["http"]
    values = {"text": text, "count": str(count)}
    assert json.loads(filled(sent["body"], values)) == {"text": text, "all": [f"{count} {text}"]}
    made = filled(sent["url"], values)
    assert re.fullmatch("[!-~]*", made), "no part is escaped again, or refused by Argo's client"
    url = urlsplit(made)
    assert [unquote(part) for part in url.path.split("/")[1:]] == [text, str(count)]
    assert unquote(url.query) == f"q={text}"
    assert not {"&", "+", ";"} & {*url.query}


def test_a_described_step_is_no_function_elsewhere() -> None:
    @resource("apply")
    def store() -> None:
        manifest({"kind": "ConfigMap"})

    with pytest.raises(OutsidePipeline, match="`manifest` describes a step"):
        store()
    with pytest.raises(OutsidePipeline, match="`request` describes a step"):
        request("GET", "https://example.com")


def test_a_graph_around_a_step_is_not_drawn() -> None:
    compiled = compile_loaded(load(Path(__file__).parent / "lowering" / "requests.py"))
    nodes = {node.name: node for node in picture(compiled.programs[0]).nodes}
    assert nodes["again"] == Node("again", "again", "ping", "", "answer['state'] == 'new'")
    assert [(node.name, node.inside) for node in nodes["scores"].inside] == [("score", ())]


def test_a_step_without_results_needs_no_graph_in_a_branch(tmp_path: Path) -> None:
    file = tmp_path / "case.py"
    source = """
from flowdsl import http, pipeline, request, when

@http()
def ask(text: str) -> str:
    return request("GET", f"https://example.com/{text}")

@http()
def tell(text: str) -> None:
    request("POST", "https://example.com", body={"text": text})

@pipeline
def main(text: str = "x") -> None:
    with when(text == "x"):
        tell(ask(text))
"""
    file.write_text(source, encoding="utf-8")
    (document,) = compile_loaded(load(file)).documents
    names = [template["name"] for template in document["spec"]["templates"]]
    assert names == ["main", "ask-alone", "ask", "tell"]


def test_large_graphs_hand_on_what_argo_has_as_variables(tmp_path: Path) -> None:
    body = "".join(f'    a{i} = send("x", {i})\n    gate{i} = look(a{i})\n' for i in range(150))
    source = """
from flowdsl import *

@http()
def send(text: str, count: int) -> str:
    return request("GET", f"https://example.com/{text}/{count}")

@approve()
def look(text: str) -> bool:
    raise NotImplementedError

@container(image="psql:16", daemon=True)
def serve() -> str:
    return command("serve")

@container(image="psql:16")
def use(host: str, text: str) -> str:
    return command("use", host, text, output())

@pipeline
def main() -> None:
    host = serve()
"""
    file = tmp_path / "case.py"
    file.write_text(f"{source}{body}    use(host, f'{{a0}} {{a149}}')\n", encoding="utf-8")
    compiled = compile_loaded(load(file))
    assert not compiled.failed
    assert "{{tasks.a149.outputs.result}}" in compiled.text
    assert "{{tasks.host.ip}}" in compiled.text
    assert len(compiled.programs[0].templates) > 5
    chain = "".join(f"    a = use.options(name='u{at}')(host, a)\n" for at in range(201))
    file.write_text(f"{source}    a = 'x'\n{chain}", encoding="utf-8")
    (found,) = compile_loaded(load(file)).diagnostics
    assert "more than one graph can have" in found.finding.message
