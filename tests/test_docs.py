"""What README and docs show is what the code does: sources compile, commands print what stands there.

A Python block after the comment `file: NAME` is that file from there on, and the console blocks below see it;
mistake.py holds mistakes on purpose. A TOML, YAML or text block after such a comment is a file that all blocks of
the page see. On a page whose first Python block has no such comment, that block is the beginning of every other one.
A Mermaid block draws pipeline.py. A YAML block is an excerpt, with `# ...` for what is left out, of what the Python
block before it compiles to. A Python block after the comment `peer: NAME` is for another tool: tests/peers has what
reads it.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest
import yaml

import flowdsl
from flowdsl.cli.app import run
from flowdsl.compiler.findings.codes import WARNINGS
from flowdsl.compiler.options import STEP_OPTIONS
from flowdsl.compiler.written_as import KINDS
from flowdsl.options import CallOptions, PipelineOptions, StepOptions, SubgraphOptions
from tests.pages import PAGES, ROOT, Block, blocks, read, right, settle, sources
from tools import options

GAP = "# ...\n"
LANGUAGES = {"python", "console", "mermaid", "yaml", "toml", "sh", "text", "{toctree}"}


PROFILED = """
import json, os, sys
run = set()
def profile(frame, event, argument):
    run.add((frame.f_code.co_filename, frame.f_code.co_qualname))
sys.setprofile(profile)
from flowdsl.cli.app import run as command
assert command(["compile", sys.argv[1], "-o", sys.argv[1] + ".yaml"]) == 0
sys.setprofile(None)
print(json.dumps([(os.path.relpath(os.path.realpath(path)), name) for path, name in run]))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder without colours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def answer(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command prints."""
    program, *arguments = shlex.split(line)
    if program == "sed":  # an edit
        return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
    assert program == "flowdsl"
    capsys.readouterr()
    assert run(arguments) in (0, 1, 2)
    said = capsys.readouterr()
    if (
        arguments[0] == "run" or "--run" in arguments
    ):  # compare the report at the end, without times and what depends on the machine
        shown = re.sub(r"^note: this .*\n", "", said.err, flags=re.MULTILINE) + said.out
        return re.sub(r"( *)\b\d+\.\ds\b", took, shown)
    return said.out + said.err


def took(matched: re.Match[str]) -> str:
    """A fixed duration of the same width."""
    return matched[1][: max(0, len(matched[0]) - 4)] + "0.1s"


def test_there_are_pages() -> None:
    assert {"README.md", "docs/architecture.md", "docs/language.md", "docs/yaml.md"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_of_a_kind_that_is_checked(page: str) -> None:
    assert {block.language for block in blocks(page)} <= LANGUAGES
    assert read(page).count("\n```") == 2 * len(blocks(page))
    for block in blocks(page):
        if block.language == "toml":
            tomllib.loads(block.text)


@pytest.mark.parametrize("page", PAGES)
def test_a_source_compiles_without_a_finding(
    page: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settle(page, folder)
    for name, text, _ in right(page):
        (folder / name).write_text(text, encoding="utf-8")
        if "@pipeline" in text:
            assert (answer(f"flowdsl check {name}", capsys), name) == ("", name)
        if "def test_" in text:
            plugins = ["-p", "no:cacheprovider", "-p", "flowdsl.testing.plugin"]
            command = [sys.executable, "-m", "pytest", "-q", *plugins, name]
            env = {**os.environ, "PYTHONPATH": str(ROOT)}
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
            assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", PAGES)
def test_a_command_prints_what_stands_there(
    page: str, folder: Path, capsys: pytest.CaptureFixture[str], pytestconfig: pytest.Config
) -> None:
    settle(page, folder)
    files = {block.start: (name, text) for name, text, block in sources(page)}
    replaced: list[tuple[Block, str]] = []
    for block in blocks(page):
        if block.start in files:
            name, text = files[block.start]
            (folder / name).write_text(text, encoding="utf-8")
        elif block.language == "mermaid":
            replaced.append((block, answer("flowdsl graph pipeline.py", capsys)))
        elif block.language == "console":
            lines = [line for line in block.text.splitlines() if line.startswith("$ ")]
            assert block.text.startswith("$ ")
            replaced.append((block, "".join(f"{line}\n{answer(line[2:], capsys)}" for line in lines)))
    if pytestconfig.getoption("update_snapshots"):
        text = read(page)
        for block, new in reversed(replaced):
            text = text[: block.start] + new + text[block.end :]
        (ROOT / page).write_text(text, encoding="utf-8")
    shown = [comparable(block.text) for block in blocks(page) if block.language in ("console", "mermaid")]
    assert shown == [comparable(new) for _, new in replaced]


def comparable(text: str) -> str:
    """Without what Python 3.13 and later print differently: the lines of a traceback except the last one.

    If steps have no file system of their own, the lines before show their paths on this system.
    """
    text = re.sub(r'(?<=File ")/.*(?=/argo/staging/script")', "", text)
    return text if sys.version_info < (3, 13) else re.sub(r"(?m)(?:^  \| .*\n)+(?=  \| )", "", text)


@pytest.mark.parametrize("page", PAGES)
def test_an_excerpt_is_part_of_the_yaml(page: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settle(page, folder)
    files = {block.start: (name, text) for name, text, block in right(page)}
    written = ""
    for block in blocks(page):
        if block.start in files:
            name, text = files[block.start]
            (folder / name).write_text(text, encoding="utf-8")
            written = answer(f"flowdsl compile {name}", capsys)
        elif block.text.startswith("$ flowdsl sweep") and (output := re.search(r"-o (\S+)", block.text)):
            answer(block.text[2:], capsys)
            written = (folder / output[1]).read_text(encoding="utf-8")
        elif (block.language, block.file) == ("yaml", None) and not block.text.startswith("# .pre-commit"):
            at = 0
            for piece in block.text.split(GAP):
                found = written.find(piece, at)
                assert found >= 0, piece
                at = found + len(piece)


def test_the_hook_is_a_hook() -> None:
    (text,) = (
        one.text
        for one in blocks("docs/guide/gitops.md")
        if one.text.startswith("# .pre-commit-config.yaml\n")
    )
    (hook,) = yaml.safe_load(text)["repos"][0]["hooks"]
    offered = {one["id"]: one for one in yaml.safe_load(read(".pre-commit-hooks.yaml"))}
    assert hook["additional_dependencies"] == [f"flowdsl=={flowdsl.__version__}"]
    assert hook["entry"].startswith(offered[hook["id"]]["entry"] + " ")
    for field in ("language", "types_or", "pass_filenames"):
        assert hook[field] == offered[hook["id"]][field]


def test_a_hook_runs_the_command_of_its_name() -> None:
    offered = {one["id"]: one["entry"] for one in yaml.safe_load(read(".pre-commit-hooks.yaml"))}
    assert offered == {f"flowdsl-{command}": f"flowdsl {command}" for command in ("compile", "check")}


def test_the_targets_of_make_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))
    named = {
        name for page in PAGES for name in re.findall(r"(?:^|`)make ([a-z-]+)", read(page), re.MULTILINE)
    }
    assert {"demo", "test"} <= named <= targets


def reference() -> str:
    """The pages of docs/ that are written by hand, as one text."""
    made = str(options.PAGE.relative_to(ROOT))
    return "\n".join(read(page) for page in PAGES if page.startswith("docs/") and page != made)


def test_every_public_word_is_explained() -> None:
    text = reference()
    for word in flowdsl.__all__:
        assert re.search(rf"^(##+ |\| ).*`{word}\b", text, re.MULTILINE), word


def test_every_option_has_its_row() -> None:
    rows = set(re.findall(r"^\| `(\w+)=?`", reference(), re.MULTILINE))
    assert {*StepOptions.__annotations__} == set(STEP_OPTIONS)
    for several in (CallOptions, PipelineOptions, SubgraphOptions):
        assert set(several.__annotations__) <= rows


def test_the_page_of_options_is_current() -> None:
    assert options.PAGE.read_text(encoding="utf-8") == options.page(), "run python -m tools.options"


def test_every_guide_is_listed_twice() -> None:
    text = (ROOT / "docs/guide/index.md").read_text(encoding="utf-8")
    listed = text.split("```")[1].split()[2:]
    assert re.findall(r"\]\(([\w-]+)\.md\)", text) == listed, (
        "GitHub shows links, and Sphinx the tree, in one order"
    )
    assert sorted(listed) == sorted(
        path.stem for path in (ROOT / "docs/guide").glob("*.md") if path.stem != "index"
    )


def test_every_example_is_listed() -> None:
    listed = set(re.findall(r"\(examples/(\w+)/pipeline\.(py|yaml)\)", read("README.md")))
    names = {path.parent.name for path in ROOT.glob("examples/*/pipeline.py")}
    assert listed == {(name, kind) for name in names for kind in ("py", "yaml")}


def test_the_site_lists_the_examples_of_the_readme(pytestconfig: pytest.Config) -> None:
    table = re.compile(r"^\| \| \|\n\|---\|---\|\n((?:\|.*\n)*)", re.MULTILINE)
    (rows,) = table.findall(read("README.md"))
    wanted = rows.replace("](examples/", "](../examples/")
    listed = table.search(read("docs/examples.md"))
    assert listed is not None
    if pytestconfig.getoption("update_snapshots"):
        text = read("docs/examples.md")
        (ROOT / "docs/examples.md").write_text(
            text[: listed.start(1)] + wanted + text[listed.end(1) :], "utf-8"
        )
    else:
        assert listed[1] == wanted


def test_the_upstream_examples_are_listed(pytestconfig: pytest.Config) -> None:
    page = "docs/upstream.md"
    rows: list[str] = []
    for path in sorted(ROOT.glob("examples/upstream/*.py"), key=lambda path: path.stem.lower()):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        links = (
            f"[{path.stem}](../examples/upstream/{path.name}), [YAML](../examples/upstream/{path.stem}.yaml)"
        )
        rows.append(f"| {links} | {docstring.splitlines()[0]} |\n")
    listed = re.search(r"^\| example \|.*\n\|---.*\n((?:\|.*\n)*)", read(page), re.MULTILINE)
    assert listed is not None
    if pytestconfig.getoption("update_snapshots"):
        text = read(page)
        (ROOT / page).write_text(text[: listed.start(1)] + "".join(rows) + text[listed.end(1) :], "utf-8")
    else:
        assert listed[1] == "".join(rows)


def test_the_comparison_is_of_an_example() -> None:
    assert read("examples/sweep/pipeline.py") in [one.text for one in blocks("docs/comparison.md")]


def test_the_kinds_are_named() -> None:
    assert all(f"`--as {kind}`" in read("docs/yaml.md") for kind in KINDS)


def test_every_module_is_in_the_architecture() -> None:
    """Each module is named once, in the table of its folder, and each that is named exists."""
    text = read("docs/architecture.md")
    named: list[str] = []
    for part in re.split(r"^## ", text, flags=re.MULTILINE):
        if heading := re.match(r"`([\w/]+)/`", part):
            rows = "\n".join(line.split("|")[1] for line in part.splitlines() if line.startswith("| `"))
            named += [f"{heading[1]}/{name}" for name in re.findall(r"`([\w.]+)`", rows)]
    assert sorted(named) == sorted(
        str(path.relative_to(ROOT))
        for layer in ("cli", "compiler", "flowdsl", "grammar", "runtime", "testing")
        for kind in ("py", "lark")
        for path in (ROOT / layer).rglob(f"*.{kind}")
        if path.name != "__init__.py"
    )
    for path in re.findall(r"\b[\w/]+\.py\b|`[\w/]+/`", text):
        assert "/" not in path or (ROOT / path.strip("`")).exists(), path


def test_the_codes_that_the_pages_silence_are_those_of_warnings() -> None:
    silenced = {code for page in PAGES for code in re.findall(r'ignore(?: = )?\["?(FD\d+)', read(page))}
    assert silenced
    assert silenced <= WARNINGS


def test_the_names_of_the_architecture_exist() -> None:
    """`path: name` is a class or function of that file, and all functions are run by the pipeline of the page."""
    text = read("docs/architecture.md")
    named = re.findall(r"`([\w/]+\.py): ([\w.]+)`", text)
    assert {path.split("/")[0] for path, _ in named} == {"flowdsl", "compiler"}
    functions: set[tuple[str, str]] = set()
    for path, name in named:
        body: list[ast.stmt] = ast.parse(read(path)).body
        for part in name.split("."):
            kinds = (ast.ClassDef, ast.FunctionDef)
            found = [one for one in body if isinstance(one, kinds) and one.name == part]
            assert found, f"{path}: {name}"
            body = found[-1].body
            if isinstance(found[-1], ast.FunctionDef):
                functions.add((path, name))
    (source,) = (block.text for block in blocks("docs/architecture.md") if block.file == "pipeline.py")
    assert functions - functions_run(source) == {("compiler/origins.py", "placed")}  # for a lint finding


def functions_run(source: str) -> set[tuple[str, str]]:
    """The functions of flowdsl that a compilation runs: file and name."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "pipeline.py")
        target.write_text(source, encoding="utf-8")
        command = [sys.executable, "-c", PROFILED, str(target)]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return {(path, name) for path, name in json.loads(done.stdout)}
