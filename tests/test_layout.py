"""The folders and the tables of pyproject.toml agree, and the language loads no more than it may."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("cli", "compiler", "grammar", "runtime", "testing")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS: dict[str, Any] = PROJECT["tool"]["setuptools"]
FOLDERS: dict[str, str] = SETUPTOOLS["package-dir"]


def packages_on_disk() -> dict[str, str]:
    """Package name -> folder, for each folder of a layer that holds Python code."""
    found: dict[str, str] = {}
    for layer in ("flowdsl", *LAYERS):
        for module in (ROOT / layer).rglob("*.py"):
            folder = module.parent.relative_to(ROOT).as_posix()
            name = folder.replace("/", ".")
            found[name if layer == "flowdsl" else f"flowdsl.{name}"] = folder
    return found


def test_every_package_is_installed_from_its_folder() -> None:
    assert packages_on_disk() == FOLDERS
    assert sorted(SETUPTOOLS["packages"]) == sorted(FOLDERS)


def test_every_package_has_an_init() -> None:
    assert [folder for folder in FOLDERS.values() if not (ROOT / folder / "__init__.py").is_file()] == []


def test_every_data_file_is_installed() -> None:
    data: dict[str, list[str]] = SETUPTOOLS["package-data"]
    on_disk = {
        path
        for folder in FOLDERS.values()
        for path in (ROOT / folder).iterdir()
        if path.is_file() and path.suffix != ".py"
    }
    listed = {
        path for name, globs in data.items() for glob in globs for path in (ROOT / FOLDERS[name]).glob(glob)
    }
    assert on_disk == listed


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
