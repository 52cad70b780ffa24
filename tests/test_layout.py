"""What is in the folders is installed, and the language loads no more than it may."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import grimp

from tests.packages import package_files

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("cli", "compiler", "grammar", "runtime", "testing")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS: dict[str, Any] = PROJECT["tool"]["setuptools"]
NAMED = re.compile(r"^from typing import (?:\([^)]*|.*)\bNamedTuple\b", re.MULTILINE)


def test_every_package_has_an_init() -> None:
    without = [
        name for name, files in package_files().items() if "__init__.py" not in {one.name for one in files}
    ]
    assert without == []


def test_every_data_file_is_installed() -> None:
    globs: dict[str, list[str]] = SETUPTOOLS["package-data"]
    data = {name: [one for one in files if one.suffix != ".py"] for name, files in package_files().items()}
    unlisted = [
        one
        for name, files in data.items()
        for one in files
        if not any(one.match(glob) for glob in globs.get(name, ()))
    ]
    assert unlisted == []
    assert [name for name in globs if not data[name]] == []


def test_each_layer_is_a_relative_link_in_the_package() -> None:
    links = {path.name: str(path.readlink()) for path in (ROOT / "flowdsl").iterdir() if path.is_symlink()}
    assert links == {layer: f"../{layer}" for layer in LAYERS}


def test_the_language_loads_only_the_standard_library() -> None:
    script = (
        "import sys; before = set(sys.modules); import flowdsl; "
        "print(*sorted(name for name in set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    )
    loaded = {tuple(name.split(".")) for name in done.stdout.split()}
    assert ("flowdsl",) in loaded
    assert {name[0] for name in loaded} - sys.stdlib_module_names == {"flowdsl"}
    assert not {name[:2] for name in loaded} & {
        ("flowdsl", above) for above in ("testing", "cli", "runtime", "compiler")
    }


def test_no_imports_run_in_a_circle() -> None:
    """Not even those in functions; what is imported for annotations alone may, for types may be recursive."""
    graph = grimp.build_graph("flowdsl", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 500
    TopologicalSorter(imports).prepare()  # raises CycleError, with the modules


def test_named_tuples_are_those_that_are_quick_to_define() -> None:
    def is_slow(node: ast.AST) -> bool:
        return (
            isinstance(node, ast.ImportFrom)
            and node.module == "typing"
            and "NamedTuple" in [alias.name for alias in node.names]
        )

    files = [one for several in package_files().values() for one in several if one.suffix == ".py"]
    assert len(files) > 500
    texts = {one: one.read_text(encoding="utf-8") for one in files}
    # To parse all of them takes seconds.
    named = {one: ast.parse(text) for one, text in texts.items() if NAMED.search(text)}
    assert [one for one, tree in named.items() if any(map(is_slow, tree.body))] == []
