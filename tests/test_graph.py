"""What a program looks like: the nodes and edges, and their text as Mermaid, DOT and SVG."""

from __future__ import annotations

import itertools
import random
import re
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from lark import Lark

from flowdsl.cli.app import run
from flowdsl.cli.display.svg import svg
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.graph.manifest import picture as manifest_picture
from flowdsl.compiler.graph.picture import Node, Picture, dot, mermaid, together
from flowdsl.compiler.graph.program import picture
from flowdsl.compiler.limits import DEEPEST
from flowdsl.compiler.load import load
from tests.goldens import same

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = """\
from pathlib import Path
from typing import NamedTuple

from flowdsl import fan_out, loguniform, maximize, pipeline, step, sweep, when

IMAGE = "python:3.12-slim"


class Trained(NamedTuple):
    model: Path
    accuracy: float


@step(image=IMAGE)
def split(parts: int) -> list[str]:
    return [str(part) for part in range(parts)]


@step(image=IMAGE)
def clean(part: str, strict: bool = False) -> int:
    return len(part)


@step(image=IMAGE)
def total(parts: list[int]) -> int:
    return sum(parts)


@step(image=IMAGE)
def train(lr: float, rows: int) -> Trained:
    return Trained(Path("model"), lr)


@step(image=IMAGE)
def rate(model: Path, bonus: float) -> float:
    return bonus


@step(image=IMAGE)
def publish(model: Path) -> None:
    pass


@pipeline
def trial(lr: float, rows: int) -> Trained:
    trained = train(lr, rows)
    rate(trained.model, trained.accuracy)
    return trained


@pipeline
def whole(parts: int = 3, goal: float = 0.9) -> None:
    names = split(parts)
    cleaned = fan_out(clean, over={"part": names}, parallel=2)
    rows = total(cleaned)
    space = {"lr": loguniform(1e-5, 1e-1)}
    runs = sweep(trial, over=space, trials=3, objective=maximize("accuracy"), rows=rows)
    with when((runs.best.accuracy > goal) & (rows > 10)):
        publish(runs.best.model)
"""


def drawn(tmp_path: Path, text: str) -> list[Picture]:
    """The pictures of the pipelines in a file."""
    path = tmp_path / "pipeline.py"
    path.write_text(text, encoding="utf-8")
    compiled = compile_loaded(load(path))
    assert not compiled.diagnostics
    return [picture(program) for program in compiled.programs]


def body(text: str) -> str:
    """A file with one pipeline with this body, and a step that takes and returns a number."""
    head = """\
        from flowdsl import *

        @step(image="x:1")
        def f(x: int = 0) -> int:
            return x

        @pipeline
        def p(n: int = 1, mode: str = "all", deep: bool = False) -> None:
            n, mode, deep
        """
    return textwrap.dedent(head) + textwrap.indent(textwrap.dedent(text), "    ")


# Unusual names: each contains something with a meaning in one of the languages.
HOSTILE = (
    'a "quoted" name',
    "back\\slash\\",
    "<b>&amp;</b>",
    "`code` **bold**",
    "#quot; #35; ;",
    "end",
    "style:#f00; classDef x:#f00;",
    '%%{init: {"theme": "dark"}}%% %% comment',
    "--> |text| --- ]] )) }}",
    "line\nline\r\u2028\x00\x1b[31m",
    "日本語 🚀 é",
    "{{workflow.name}} ${x}",
    "\\n \\N \\G \\l",
    "]]> <script>alert(1)</script> <!-- -->",
    "",
)


def hostile() -> Picture:
    nodes = tuple(
        Node(f"{name}/{index}", name, name, "2 times" if index % 3 else "", name, (Node(f"{name}-in", name),))
        if index % 2
        else Node(f"{name}/{index}", name)
        for index, name in enumerate(HOSTILE)
    )
    ids = [node.id for node in nodes]
    return Picture(HOSTILE[0], nodes, tuple(itertools.pairwise(ids)))


def fan(count: int) -> Picture:
    middle = [Node(f"train-{index}", f"train-{index}") for index in range(count)]
    nodes = (Node("load", "load"), *middle, Node("report", "report"))
    edges = [("load", node.id) for node in middle] + [(node.id, "report") for node in middle]
    return Picture("fan", nodes, tuple(edges))


def chance(seed: int) -> Picture:
    """A random picture with nested graphs."""
    source = random.Random(seed)

    def graph(head: str, depth: int) -> tuple[tuple[Node, ...], tuple[tuple[str, str], ...]]:
        nodes: list[Node] = []
        for index in range(source.randint(1, 8 if depth else 20)):
            one = head + str(index)
            inside = graph(f"{one}/", depth + 1) if depth < 2 and source.random() < 0.2 else ((), ())
            times = source.choice(("", "3 times")) if inside[0] else ""
            when = source.choice(("", "", "a > b"))
            nodes.append(
                Node(one, "n" * source.randint(1, 25), source.choice(("", "step")), times, when, *inside)
            )
        edges = [
            (nodes[first].id, nodes[second].id)
            for second in range(1, len(nodes))
            for first in source.sample(range(second), min(second, source.randint(0, 3)))
        ]
        return tuple(nodes), tuple(edges)

    return Picture("chance", *graph("", 0))


# --- the picture -------------------------------------------------------------------------------------


def test_loops_and_sub_pipelines_hold_what_they_run(tmp_path: Path) -> None:
    (whole,) = drawn(tmp_path, FILE)
    assert whole.name == "whole"
    assert [(node.name, *node.lines[1:]) for node in whole.nodes] == [
        ("names", "split"),
        ("cleaned", "once for each item, 2 at a time"),
        ("rows", "total"),
        ("runs", "trial", "3 times"),
        ("publish", "if (runs.best.accuracy > goal) & (rows > 10)"),
    ]
    assert set(whole.edges) == {
        ("names", "cleaned"),
        ("cleaned", "rows"),
        ("rows", "runs"),
        ("runs", "publish"),
        ("rows", "publish"),
    }
    cleaned, runs = whole.nodes[1], whole.nodes[3]
    assert (cleaned.inside, cleaned.edges) == ((Node("cleaned/clean", "clean"),), ())
    assert [node.lines for node in runs.inside] == [("trained", "train"), ("rate",)]
    assert runs.edges == (("runs/trained", "runs/rate"),)


@pytest.mark.parametrize(
    ("condition", "spelled"),
    [
        ("when(n > 1)", "n > 1"),
        ("when(f(n) == n * 2)", "f == (n * 2)"),
        ("when(mode == 'it\\'s')", 'mode == "it\'s"'),
        ("unless(deep)", "not deep"),
        ("when((n > 1) | (mode == 'x') & deep)", "(n > 1) | ((mode == 'x') & deep)"),
        ("when(run.name == 'x')", "run.name == 'x'"),
        ("when(mode == 'x' * 100)", "mode == '" + "x" * 50 + "…"),
    ],
)
def test_conditions_are_spelled_in_python(condition: str, spelled: str, tmp_path: Path) -> None:
    (found,) = drawn(tmp_path, body(f"with {condition}:\n    f.options(name='last')(n)\n"))
    assert found.nodes[-1].lines[-1] == f"if {spelled}"


def test_conditions_on_branches_and_loops_are_spelled_in_python(tmp_path: Path) -> None:
    text = """\
        with when(f(1) > 1):
            big = f.options(name="big")(2)
            with when(big > 2):
                f.options(name="inner")(3)
        with otherwise():
            small = f.options(name="small")(4)
        with when(either(big, small) > 3):
            f.options(name="joined")(5)
        items = fan_out(f, over={"x": [1, 2]})
        with when(items[0] > 4):
            f.options(name="looped")(6)
        """
    (found,) = drawn(tmp_path, body(textwrap.dedent(text)))
    last = {node.lines[0]: node.lines[-1] for node in found.nodes}
    assert last["inner"] == "if (f > 1) & (big > 2)"
    assert last["joined"] == "if either(big, small) > 3"
    assert last["looped"] == "if items[0] > 4"


def test_a_task_that_is_named_after_its_step_needs_no_second_name(tmp_path: Path) -> None:
    (found,) = drawn(tmp_path, body("f(n)\nf(3)\nother = f(4)\n"))
    assert [node.lines for node in found.nodes][-1] == ("other", "f")
    assert all(len(node.lines) == 1 for node in found.nodes[:-1])


def test_several_pipelines_share_a_picture(tmp_path: Path) -> None:
    first, second = drawn(
        tmp_path, body("f(n)\n") + "\n@pipeline\ndef q() -> None:\n    y = f(1)\n    z = f(y)\n"
    )
    assert together([first]) == first
    both = together([first, second])
    assert both.name == "p, q"
    assert [node.lines for node in both.nodes] == [("p",), ("q",)]
    assert both.nodes[1].edges == (("q/y", "q/z"),)
    ids = [node.id for each in both.nodes for node in (each, *each.inside)]
    assert len(ids) == len(set(ids)) == 5
    for text in (mermaid(both), dot(both), svg(both)):
        assert text.count("f") >= 2


# --- manifests ---------------------------------------------------------------------------------------

MANIFESTS = sorted((Path(__file__).parent / "graph/manifests").glob("*.yaml"))


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_a_manifest(path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["graph", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    read_mermaid(out)
    same(out, path.with_suffix(".mmd"), request)


def test_templates_are_drawn_as_deep_as_argo_runs_them() -> None:
    """Each of a long row of templates runs the next one, and the last one the first."""
    names = [f"t{number}" for number in range(150)]
    following = [*names[1:], names[0]]
    templates = [
        {"name": name, "steps": [[{"name": "only", "template": after, "when": "{{workflow.name}} == x"}]]}
        for name, after in zip(names, following, strict=True)
    ]
    document = {
        "kind": "Workflow",
        "metadata": {"name": "row"},
        "spec": {"entrypoint": "t0", "templates": templates},
    }
    drawing = manifest_picture(document, {})
    text = mermaid(drawing)
    assert text.count("subgraph") == DEEPEST - 1
    for each in (text, dot(drawing), svg(drawing)):
        assert names[DEEPEST] in each
        assert names[DEEPEST + 1] not in each


def test_graphs_that_call_each_other_twice_do_not_grow_beyond_what_can_be_drawn() -> None:
    twice = [
        {"name": f"t{n}", "steps": [[{"name": each, "template": f"t{n + 1}"} for each in "ab"]]}
        for n in range(60)
    ]
    document = {
        "kind": "Workflow",
        "metadata": {"name": "twice"},
        "spec": {"entrypoint": "t0", "templates": [*twice, {"name": "t60", "container": {"image": "a:1"}}]},
    }
    assert mermaid(manifest_picture(document, {})).count("subgraph") == 5_000


@pytest.mark.parametrize(
    ("sequence", "often"),
    [
        ({"count": "0"}, "0 times"),
        ({"count": 1}, "1 time"),
        ({"count": "-3"}, "5 times"),
        ({"start": "2", "end": "2"}, "1 time"),
        ({"end": 3}, "4 times"),
        ({"count": "{{x}}"}, "once for each item"),
        ({"start": "{{x}}", "end": "2"}, "once for each item"),
        ({"count": "9" * 5000}, "once for each item"),
    ],
)
def test_a_sequence_says_how_often_it_runs(sequence: dict[str, Any], often: str) -> None:
    tasks = [{"name": "only", "template": "leaf", "withSequence": sequence}]
    leaf: dict[str, Any] = {"name": "leaf", "suspend": {}}
    spec = {"entrypoint": "main", "templates": [{"name": "main", "dag": {"tasks": tasks}}, leaf]}
    (only,) = manifest_picture({"kind": "Workflow", "spec": spec}, {}).nodes
    assert only.lines == ("only", "leaf", often)


# --- Mermaid -----------------------------------------------------------------------------------------


def read_mermaid(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The labels and edges of a flowchart in the form that `mermaid` writes; anything else is an error."""
    head, *lines = text.splitlines()
    assert head == "flowchart TD"
    labels: dict[str, str] = {}
    edges: list[tuple[str, str]] = []
    open_graphs = 0
    for line in lines:
        if node := re.fullmatch(r' +(subgraph )?(n\d+)\["((?:[^"#;%:<>`\\]|#\d+;|<br>)*)"\]', line):
            assert node[2] not in labels
            labels[node[2]] = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), node[3])
            open_graphs += bool(node[1])
        elif edge := re.fullmatch(r" +(n\d+) --> (n\d+)", line):
            edges.append((labels[edge[1]], labels[edge[2]]))
        else:
            assert line.strip() == "end"
            open_graphs -= 1
    assert open_graphs == 0
    return list(labels.values()), edges


def test_mermaid(tmp_path: Path) -> None:
    (whole,) = drawn(tmp_path, FILE)
    assert mermaid(whole) == textwrap.dedent(
        """\
        flowchart TD
          n0["names<br>split"]
          subgraph n1["cleaned<br>once for each item, 2 at a time"]
            n2["clean"]
          end
          n3["rows<br>total"]
          subgraph n4["runs<br>trial<br>3 times"]
            n5["trained<br>train"]
            n6["rate"]
            n5 --> n6
          end
          n7["publish<br>if (runs.best.accuracy #62; goal) & (rows #62; 10)"]
        """
    ).replace("&", "#38;") + "".join(f"  {edge}\n" for edge in EDGES)


EDGES = ("n0 --> n1", "n1 --> n3", "n3 --> n4", "n4 --> n7", "n3 --> n7")


def test_mermaid_takes_every_name() -> None:
    labels, edges = read_mermaid(mermaid(hostile()))
    flat = [re.sub(r"[^ -~\w日本語🚀]", " ", name) for name in HOSTILE]
    assert {label for label in labels if "<br>if" not in label} >= {
        flat[index] for index in range(0, len(flat), 2)
    }
    assert len(edges) == len(HOSTILE) - 1


# --- DOT ---------------------------------------------------------------------------------------------

# The part of the DOT language that is written. Source: graphviz.org/doc/info/lang.html.
DOT: Any = Lark(
    r"""
    start: "digraph" ID "{" statement* "}"
    statement: (setting | group | edge | node | assignment) ";"?
    setting: ("graph" | "node") attributes
    group: "subgraph" ID "{" statement* "}"
    edge: ID "->" ID attributes?
    node: ID attributes
    assignment: NAME "=" (NAME | ID)
    attributes: "[" assignment ("," assignment)* "]"
    NAME: /[a-z]+/
    ID: /"(\\.|[^"\\\n])*"/
    %ignore /\s+/
    """,
    parser="lalr",
)


def test_dot(tmp_path: Path) -> None:
    (whole,) = drawn(tmp_path, FILE)
    text = dot(whole)
    DOT.parse(text)
    assert '  subgraph "cluster runs" {\n    label="runs\\ntrial\\n3 times";\n' in text
    assert '    "runs/trained" -> "runs/rate";\n' in text
    # From the last task of one graph to the first of another, clipped at the borders of both.
    assert '  "rows" -> "runs/trained" [lhead="cluster runs"];\n' in text
    assert '  "runs/rate" -> "publish" [ltail="cluster runs"];\n' in text


def test_dot_takes_every_name() -> None:
    tree = DOT.parse(dot(hostile()))
    assert len(list(tree.find_data("edge"))) == len(HOSTILE) - 1
    assert len(list(tree.find_data("group"))) == len(HOSTILE) // 2
    for seed in range(20):
        DOT.parse(dot(chance(seed)))


# --- SVG ---------------------------------------------------------------------------------------------

NAMESPACE = "{http://www.w3.org/2000/svg}"


class Rect:
    def __init__(self, element: ET.Element) -> None:
        self.left, self.top = float(element.get("x", "0")), float(element.get("y", "0"))
        self.right = self.left + float(element.get("width", "0"))
        self.bottom = self.top + float(element.get("height", "0"))

    def apart(self, other: Rect) -> bool:
        across = self.right <= other.left or other.right <= self.left
        return across or self.bottom <= other.top or other.bottom <= self.top

    def holds(self, other: Rect) -> bool:
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom


def boxes(group: ET.Element) -> Iterator[tuple[Rect, ET.Element]]:
    """The boxes directly in a group, each with its element: a loop has two sheets."""
    for inner in group.findall(f"{NAMESPACE}g"):
        rects = [Rect(element) for element in inner.findall(f"{NAMESPACE}rect")]
        whole = rects[0]
        whole.left, whole.top = min(one.left for one in rects), min(one.top for one in rects)
        whole.right, whole.bottom = max(one.right for one in rects), max(one.bottom for one in rects)
        yield whole, inner


def examine(group: ET.Element, around: Rect) -> int:
    """Check that boxes lie inside their parents and do not overlap; returns their number."""
    found = list(boxes(group))
    for index, (box, _) in enumerate(found):
        assert around.holds(box)
        assert all(box.apart(other) for other, _ in found[:index])
    for path in group.findall(f"{NAMESPACE}path"):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", path.get("d", ""))]
        assert all(around.left <= x <= around.right for x in numbers[::2])
        assert all(around.top <= y <= around.bottom for y in numbers[1::2])
        assert path.get("marker-end") == "url(#head)"
    return len(found) + sum(examine(inner, box) for box, inner in found)


def count(nodes: tuple[Node, ...]) -> int:
    return sum(1 + count(node.inside) for node in nodes)


def examined(drawing: Picture) -> ET.Element:
    root = ET.fromstring(svg(drawing))
    page = Rect(root)
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert examine(root, page) == count(drawing.nodes)
    assert not root.findall(f".//{NAMESPACE}script")
    assert root.findall(f"{NAMESPACE}marker[@id='head']")
    return root


def test_svg_shows_every_task_and_edge(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (whole,) = drawn(tmp_path, FILE)
    same(svg(whole), Path(__file__).parent / "graph" / "whole.svg", request)
    root = examined(whole)
    texts = [element.text for element in root.iter(f"{NAMESPACE}text")]
    assert sorted(filter(None, texts)) == sorted(
        line
        for node in (*whole.nodes, *(inner for outer in whole.nodes for inner in outer.inside))
        for line in node.lines
    )
    assert len(root.findall(f".//{NAMESPACE}path[@class='edge']")) == len(whole.edges) + 1
    kinds = [element.get("class") for element in root.iter(f"{NAMESPACE}rect")]
    assert kinds.count("sheet") == 2
    assert kinds.count("graph") == 2
    assert kinds.count("task if") == 1


@pytest.mark.parametrize("seed", range(30))
def test_svg_is_tidy(seed: int) -> None:
    examined(chance(seed))


def test_svg_takes_every_name() -> None:
    root = examined(hostile())
    texts = {element.text or "" for element in root.iter(f"{NAMESPACE}text")}
    assert {name for name in HOSTILE if name.isprintable()} <= texts
    assert "line\\nline\\r\\u2028\\x00\\x1b[31m" in texts


def test_svg_is_dark_on_light_and_large_enough_to_read(tmp_path: Path) -> None:
    (whole,) = drawn(tmp_path, FILE)
    text = svg(whole)
    assert "font: 14px" in text
    assert re.search(r'<rect width="[\d.]+" height="[\d.]+" fill="#ffffff"/>', text)
    # Nothing is loaded from elsewhere.
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]


def test_a_chain_runs_down_and_a_fan_to_the_right() -> None:
    chain = Picture("chain", tuple(Node(name, name) for name in "abcd"), (("a", "b"), ("b", "c"), ("c", "d")))
    for drawing, down in ((chain, True), (fan(28), False)):
        first, *_, last = (box for box, _ in boxes(examined(drawing)))
        assert (first.bottom < last.top) is down
        assert (first.right < last.left) is not down


def test_a_fan_of_thirty_fits_a_screen_in_width() -> None:
    page = Rect(examined(fan(28)))
    assert page.right < 600
    assert page.bottom < 1600


def test_tasks_without_edges_stand_in_rows() -> None:
    lone = Picture("lone", tuple(Node(str(index), f"task-{index}") for index in range(30)), ())
    page = Rect(examined(lone))
    assert 0.5 < page.right / page.bottom < 4


def test_an_empty_picture() -> None:
    assert examined(Picture("empty", (), ())).findall(f"{NAMESPACE}g") == []


def test_a_long_chain_and_a_large_graph() -> None:
    ids = [f"task-{index}" for index in range(200)]
    nodes = tuple(Node(one, one) for one in ids)
    examined(Picture("chain", nodes, tuple(itertools.pairwise(ids))))
    examined(fan(198))


def test_the_same_picture_gives_the_same_bytes() -> None:
    """Within one process, where objects have other addresses the second time, and with other hash seeds."""
    drawing = chance(1)
    assert svg(drawing) == svg(chance(1))
    imports = "from flowdsl.compiler.graph.picture import *; from flowdsl.cli.display.svg import svg"
    script = f"{imports}; print(svg({drawing!r}), end='')"
    for seed in ("1", "2"):
        command = [sys.executable, "-c", script]
        settings: dict[str, Any] = {"env": {"PYTHONHASHSEED": seed, "PATH": ""}}
        ran = subprocess.run(command, capture_output=True, text=True, check=True, **settings)
        assert ran.stdout == svg(drawing)


def test_a_step_on_several_pods_says_how_many(tmp_path: Path) -> None:
    (whole,) = drawn(tmp_path, (Path(__file__).parent / "lowering/tfjob.py").read_text(encoding="utf-8"))
    assert re.findall(r'\["(.+)"\]', mermaid(whole)) == [
        "train<br>on 3 pods at once",
        "serve<br>on 7 pods at once",
        "export",
    ]
