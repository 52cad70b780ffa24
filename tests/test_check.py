"""`flowdsl check` on YAML and JSON: the files in tests/check, with what is printed about each beside it."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from flowdsl.cli.app import run
from flowdsl.compiler import manifests
from flowdsl.compiler.yaml import findings
from flowdsl.compiler.yaml.documents import read
from flowdsl.diagnostic import Finding
from flowdsl.grammar.scalar import plain
from flowdsl.places.place import Span
from tests.goldens import same

FOLDER = Path(__file__).with_name("check")
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".yaml", ".json"))
RIGHT = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: a}
spec:
  entrypoint: main
  templates:
  - name: main
    suspend: {}
""".lstrip()
WRONG = RIGHT.replace("entrypoint: main", "entrypoint: mian")
DOUBTFUL = RIGHT.replace("suspend: {}", 'container: {image: a:1, command: [echo, "{{workflows.name}}"]}')
PIPELINE = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def work() -> None:
    pass


@pipeline
def nightly() -> None:
    work()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    code = run(["check", *arguments])
    said = capsys.readouterr()
    assert said.err == "" or code == 2
    return code, said.out + said.err


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_what_is_printed(
    file: Path, folder: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    shutil.copy(file, folder)
    code, said = check(capsys, file.name)
    assert code == (2 if "error" in said else 0)
    same(said, file.with_name(file.name + ".err"), request)


def test_there_are_no_other_goldens() -> None:
    expected = {path.name for path in FILES} | {f"{path.name}.err" for path in FILES}
    assert {path.name for path in FOLDER.iterdir()} == expected


def test_every_kind_has_a_case() -> None:
    shown = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.err"))
    made = [kind for module in (findings, manifests) for kind in vars(module).values()]
    codes = {
        kind.code
        for kind in made
        if isinstance(kind, type) and issubclass(kind, Finding) and kind is not Finding
    }
    assert len(codes) == 11
    # A file that is no text is tested separately.
    assert {code for code in codes if f"[{code}]" not in shown} == {"FD125"}


@pytest.mark.parametrize(
    ("text", "place", "way"),
    [
        ("a:\n\tb: c\n", "2:1", "indent with spaces: YAML takes no tabs there"),
        ("a:b\nc: d\n", "1:3", "write a space after the colon: `a: b`"),
        ("a:\n- b:c\n  d: e\n", "2:5", "write a space after the colon: `b: c`"),
        ("a: {{b}}/c\n", "1:4", "put text that begins with `{{` in quotes: YAML takes a brace for a mapping"),
        ('a: "{{b}}" c\n', "1:12", "put the whole text in quotes: it ends where the quotes end"),
        ("a: |\nb c\nd: e f\ng\n", "2:1", "indent the text of `a` further than `a` itself"),
        ('a: "b\nc: d\n', "1:4", "close the quotes that begin here"),
        ("a: [b, c\nd: e\n", "1:4", "close the bracket that begins here"),
        ('[1, {"a": ', "1:5", "close the bracket that begins here"),
        ("a: [{b: c}, [\n\n", "1:13", "close the bracket that begins here"),
        ("a: [b, , c]\n", "1:8", "write the value that is missing before this sign, or leave out the sign"),
        (
            "a: *.txt\n",
            "1:4",
            "put the whole text in quotes: it begins with a sign that YAML has another use for",
        ),
        (
            'a: "\\ud83d\\ude00"\n',
            "1:7",
            "write the character itself, or its whole number as in `\\U0001F600`: two halves of one are for JSON",
        ),
        ("a: b\n  c: d\n", "2:3", "indent this line like the one above: `a` has a value of its own"),
        (
            "a:\n    b: c\n  d: e\n",
            "3:3",
            "indent it, or the line above, like its neighbours: nothing above begins here",
        ),
        (
            "a: b: c\n",
            "1:5",
            "correct the text here; quote text that contains `: ` or ` #`, or begins with a special character",
        ),
    ],
)
def test_slips_that_make_no_yaml(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, place: str, way: str
) -> None:
    (folder / "slip.yaml").write_text(text)
    code, said = check(capsys, "slip.yaml")
    assert (code, said.splitlines()[-3:][0]) == (2, f"  = help: {way}")
    assert said.startswith(f"slip.yaml:{place}: error[FD120]: this is not YAML: ")


def test_standard_input(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(WRONG))
    code, said = check(capsys, "-", "--format", "concise")
    assert (code, said) == (2, "<stdin>:5:15: error[FD514]: there is no template `mian`\n")


@pytest.mark.parametrize("command", ["check", "import", "run"])
def test_standard_input_that_is_no_text(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = io.BytesIO(f"# größer\n{WRONG}".encode("latin-1"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(data, encoding="utf-8"))
    assert run([command, "-"]) == 2
    assert "<stdin>:1:5: error[FD125]: the file is not UTF-8" in "".join(capsys.readouterr())


def test_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "all" / "deep").mkdir(parents=True)
    (folder / "all" / ".git").mkdir()
    (folder / "all" / ".git" / "skipped.yaml").write_text("a: [")
    (folder / "all" / "values.yaml").write_text("replicas: 2\n")
    (folder / "all" / "helper.py").write_text("import flowdsl_is_not_imported_here\n")
    (folder / "all" / "pipeline.py").write_text(PIPELINE)
    (folder / "all" / "deep" / "one.yml").write_text(WRONG)
    (folder / "all" / "deep" / "two.json").write_text(json.dumps(yaml.safe_load(RIGHT)))
    assert check(capsys, "all", "--format", "concise") == (
        2,
        "all/deep/one.yml:5:15: error[FD514]: there is no template `mian`\n",
    )
    (folder / "empty").mkdir()
    code, said = check(capsys, "empty")
    assert code == 2
    assert "there is no pipeline, YAML or JSON in empty\n" in said


@pytest.mark.parametrize("line", ["from team.types import Row", "from .types import Row"])
def test_steps_in_a_file_of_their_own_may_get_modules_from_the_pipeline_that_calls_them(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    (folder / "team").mkdir()
    (folder / "team/__init__.py").touch()
    (folder / "team/types.py").write_text(
        "from typing import NamedTuple\nclass Row(NamedTuple):\n    x: int\n"
    )
    (folder / "team/steps.py").write_text(
        f"from flowdsl import step\n{line}\n\n"
        '@step(image="python:3.12-slim")\ndef rows(n: int) -> Row:\n    import numpy\n    return Row(n)\n'
    )
    (folder / "main.py").write_text(
        "from flowdsl import Volume, pipeline\nfrom team.steps import rows\n\n"
        '@pipeline(code=Volume("src") / "src", packages=["numpy==2.1"])\ndef main() -> None:\n    rows(1)\n'
    )
    assert check(capsys, ".", "--format", "concise")[1] == ""


def test_environments_of_python_are_left_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, sign in ("venv", "pyvenv.cfg"), ("conda", "conda-meta/history"), ("mine", "lib/setup.cfg"):
        (folder / name / "lib").mkdir(parents=True)
        (folder / name / "lib/module.py").write_text("from flowdsl import step\nstep step\n")
        (folder / name / sign).parent.mkdir(exist_ok=True)
        (folder / name / sign).touch()
    assert check(capsys, ".", "--format", "concise")[1].startswith("mine/lib/module.py:2:")
    assert check(capsys, "venv", "--format", "concise")[1].startswith("venv/lib/module.py:2:")


def test_the_templates_of_a_chart_are_left_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for chart in "chart", "none":
        (folder / chart / "templates" / "deep").mkdir(parents=True)
        (folder / chart / "templates" / "deep" / "w.yaml").write_text(
            "{{- if .Values.on }}\nkind: Workflow\n"
        )
    (folder / "chart" / "Chart.yaml").write_text("name: chart\nversion: 0.1.0\n")
    assert check(capsys, ".", "--format", "concise")[1].startswith(
        "none/templates/deep/w.yaml:1:1: error[FD120]"
    )


def test_the_patches_of_a_kustomization_are_left_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "base").mkdir()
    (folder / "prod").mkdir()
    patch = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec: {priority: high}\n"
    for name in "base/alone", "prod/listed", "prod/merged", "prod/json":
        (folder / f"{name}.yaml").write_text(patch)
    (folder / "prod/kustomization.yaml").write_text(
        "resources: [../base]\n"
        "patches:\n- path: listed.yaml\n- target: {kind: Workflow}\n  patch: |\n    kind: Workflow\n- 3\n"
        "patchesStrategicMerge:\n- ./merged.yaml\n- |\n  kind: Workflow\n"
        "patchesJson6902:\n- {path: ../prod/json.yaml, target: {kind: Workflow}}\n"
    )
    said = check(capsys, ".", "--format", "concise")[1]
    assert {line.partition(":")[0] for line in said.splitlines()} == {"base/alone.yaml"}
    said = check(capsys, "prod/listed.yaml", "--format", "concise")[1]
    assert "prod/listed.yaml:4:" in said
    (folder / "prod/kustomization.yaml").write_text("patches: {path: listed.yaml\n")
    assert "prod/listed.yaml:4:" in check(capsys, "prod", "--format", "concise")[1]


def test_a_folder_may_hold_steps_for_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = PIPELINE[: PIPELINE.index("@pipeline")]
    (folder / "all").mkdir()
    (folder / "all/commented.py").write_text("# Steps of a pipeline.\n" + steps.replace("pipeline, ", ""))
    (folder / "all/steps.py").write_text(steps.replace("pipeline, ", ""))
    (folder / "all/of_a_package.py").write_text("from flowdsl import step\nfrom .names import IMAGE\n")
    assert check(capsys, "all") == (0, "")
    code, said = check(capsys, "all/steps.py")
    assert (code, "there is no pipeline in all/steps.py" in said) == (2, True)
    (folder / "all/steps.py").write_text(
        steps.replace("pipeline, ", "").replace("12-slim", '12-slim", memory="4GB')
    )
    (folder / "all/slip.py").write_text(PIPELINE.replace("pipeline", "pipelin"))
    code, said = check(capsys, "all", "--format", "concise")
    assert code == 2
    assert said.splitlines() == [
        "all/slip.py:2:1: error[FD763]: flowdsl has no word `pipelin`",
        "all/steps.py:5:40: error[FD273]: `memory` cannot be `4GB`",
    ]
    (folder / "all/broken.py").write_text(PIPELINE + "1 / 0\n")
    assert "ZeroDivisionError" in check(capsys, "all")[1]


def test_files_that_cannot_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = check(capsys, "missing.yaml")
    assert code == 2
    assert "error[FD102]: there is no file `missing.yaml`\n" in said
    (folder / "empty").mkdir()
    (folder / "missin.yml").write_text(RIGHT)
    for name, finding, hint in (
        ("missing.yml", "FD102", "did you mean `missin.yml`?"),
        ("empty", "FD110", "name a folder of files that import flowdsl, or of workflows of Argo"),
    ):
        code, said = check(capsys, name, "--format", "json")
        (told,) = json.loads(said)
        assert (code, told["code"], told["help"]) == (2, finding, hint)
    (folder / "pipeline.py").write_text(PIPELINE)
    said = "flowdsl: the name of a file is empty: name one, or `.` for the current folder\n"
    assert check(capsys, "") == (2, said)
    assert check(capsys, "pipeline.py", "") == (2, said)


def test_a_file_that_is_no_text_keeps_no_other_from_being_checked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "all").mkdir()
    (folder / "all" / "a.yaml").write_text(WRONG)
    (folder / "all" / "b.yaml").write_bytes(f"# größer\n{WRONG}# ü\n".encode("latin-1"))
    (folder / "all" / "c.yaml").write_text(WRONG)
    there = "5:15: error[FD514]: there is no template `mian`"
    code, said = check(capsys, "all", "--format", "concise")
    assert code == 2
    assert said.splitlines() == [
        f"all/a.yaml:{there}",
        "all/b.yaml:1:5: error[FD125]: the file is not UTF-8: byte 0xf6 is not valid in it",
        f"all/c.yaml:{there}",
    ]


def test_references_between_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library, uses, *_ = (FOLDER / "references.yaml").read_text().split("---\n")
    (folder / "library.yaml").write_text(library)
    (folder / "uses.yaml").write_text(uses)
    assert check(capsys, "uses.yaml") == (0, "")
    code, said = check(capsys, "uses.yaml", "library.yaml", "--format", "concise")
    assert code == 2
    assert said.count("error") == 2


def test_other_objects_beside_workflows_are_left_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(FOLDER / "objects.yaml", folder)
    (folder / "doubtful.yaml").write_text(DOUBTFUL)
    assert "FD129" in check(capsys, "objects.yaml")[1]
    beside = check(capsys, "doubtful.yaml", "objects.yaml")
    assert beside == check(capsys, "doubtful.yaml")


def test_strict_select_and_ignore(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "doubtful.yaml").write_text(DOUBTFUL)
    (folder / "wrong.yaml").write_text(WRONG)
    assert check(capsys, "doubtful.yaml")[0] == 0
    assert check(capsys, "doubtful.yaml", "--strict")[0] == 2
    assert check(capsys, "doubtful.yaml", "--strict", "--ignore", "FD546") == (0, "")
    assert check(capsys, "doubtful.yaml", "wrong.yaml", "--select", "FD546")[0] == 0
    assert check(capsys, "doubtful.yaml", "wrong.yaml", "--ignore", "FD51")[0] == 0
    assert check(capsys, "wrong.yaml", "--select", "FD5")[0] == 2
    for option, unknown in (("--ignore", "E501"), ("--select", "FD999"), ("--select", "FD546,FD5460")):
        code, said = check(capsys, "wrong.yaml", option, unknown)
        assert code == 2
        assert f"`{unknown.rpartition(',')[2]}` is not the code" in said


def test_sarif(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(FOLDER / "spans.yaml", folder)
    shutil.copy(FOLDER / "repeated.yaml", folder)
    code, said = check(capsys, "spans.yaml", "repeated.yaml", "--format", "sarif")
    assert code == 2
    log = json.loads(said)
    (made,) = log["runs"]
    rules = [rule["id"] for rule in made["tool"]["driver"]["rules"]]
    assert (log["version"], rules) == ("2.1.0", sorted(set(rules)))
    code, said = check(capsys, "spans.yaml", "repeated.yaml", "--format", "json")
    rows = json.loads(said)
    assert len(rows) == len(made["results"])
    for row, result in zip(rows, made["results"], strict=True):
        place = result["locations"][0]["physicalLocation"]
        assert (rules[result["ruleIndex"]], result["ruleId"]) == (row["code"], row["code"])
        assert (place["artifactLocation"]["uri"], result["level"]) == (row["file"], row["severity"])
        region = place["region"]
        assert (region["startLine"], region["startColumn"]) == (row["line"], row["column"])
        assert (region["endLine"], region["endColumn"]) == (row["end_line"], row["end_column"])
    assert sum("relatedLocations" in result for result in made["results"]) == 1


NUMBERS = st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False)
#: PyYAML does not read back its own output if it contains one of the excluded characters.
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029")
TEXT = st.text(CHARACTERS, max_size=50)
PLAIN = st.none() | st.booleans() | NUMBERS | TEXT
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4)
)


class Dumper(yaml.SafeDumper):
    """Quotes texts that kubectl would not read as texts; PyYAML recognizes fewer of them."""


def _text(_: Dumper, text: str) -> yaml.Node:
    return yaml.ScalarNode("tag:yaml.org,2002:str", text, style=None if plain(text) == text else '"')


Dumper.add_representer(str, _text)


@given(VALUES, st.booleans())
@example({"Y": "0o17"}, False)
def test_values_are_those_that_were_written(value: Any, flow: bool) -> None:
    """YAML written by PyYAML is read back, and every value has a span that can be cut out and parsed again."""
    text = yaml.dump({"v": value}, Dumper=Dumper, default_flow_style=flow, allow_unicode=True)
    (document,), problems = read(text, "a.yaml")
    assert problems == []
    assert document.body == {"v": value}
    span = document.span(("v",))
    lines = text.split("\n")[span.line - 1 : span.end_line]
    assert 1 <= span.column <= len(lines[0]) + 1
    assert 1 <= span.end_column <= len(lines[-1]) + 1


@given(VALUES)
def test_json_is_yaml(value: Any) -> None:
    (document,), problems = read(json.dumps({"v": value}, indent="\t"), "a.json")
    assert (document.body, problems) == ({"v": value}, [])


@given(st.text())
def test_no_text_is_too_bad(text: str) -> None:
    _, problems = read(text, "a.yaml")
    lines = text.split("\n")
    for problem in problems:
        assert isinstance(problem.place, Span)
        assert problem.place.line <= len(lines) + 1


OVERLOADED = """
from functools import cache
from typing import overload

from flowdsl import pipeline, step


@overload
def double(x: int) -> int: ...
@overload
def double(x: str) -> int: ...
@cache
def double(x):
    return x


@step(image="python:3.12-slim")
def double(x: int) -> int:
    return 2 * x


@pipeline
def main() -> int:
    return double(1)
"""


def test_only_a_step_or_pipeline_is_lost_to_another_function(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "overloaded.py"
    path.write_text(OVERLOADED, encoding="utf-8")
    assert check(capsys, str(path)) == (0, "")
    path.write_text(OVERLOADED.replace("@cache", '@step(image="python:3.12-slim")'), encoding="utf-8")
    code, text = check(capsys, str(path))
    assert (code, text.count("error[FD112]")) == (2, 1)
