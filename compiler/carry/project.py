"""Which modules belong to the user's project, so that the image of a step does not have them."""

from __future__ import annotations

import ast
import os.path
import sys
from importlib.machinery import PathFinder
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING

from flowdsl.places.place import INSTALLED, in_library

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec

_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")


def path_in_project(module: str, filename: str) -> str | None:
    """The path of a module of the project, relative to the folder of a file; None for any other module.

    A module belongs to the project if its file is below the folder of the file, below the folder of the
    project around it (the nearest with a pyproject.toml, setup.py, setup.cfg or .git), or below the
    current folder if the file is too; and neither in the standard library nor in a site-packages.
    A relative import always belongs to the project, and so does a module with the name of a standard one, if it
    was imported here from the project: in the pod the standard one would be imported.
    """
    if module.startswith("."):
        return _relative(module, os.path.dirname(filename))  # noqa: PTH120
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        file = getattr(sys.modules.get(top), "__file__", None)
        if file is None or in_library(file):
            return None
    path = _path(module, top, os.path.dirname(filename))  # noqa: PTH120 -- text, as code objects have it
    if path is None or INSTALLED & {*path.parts}:
        return None
    if not any(path.is_relative_to(folder) for folder in _project(filename)):
        return None
    return os.path.relpath(path, os.path.dirname(os.path.realpath(filename)))  # noqa: PTH120


def brings_language(module: str, filename: str) -> str | None:
    """The module of the project that imports flowdsl when this one is imported, directly or not; None if none does.

    Packages are imported before their modules. A module that is not loaded is the one that the file would import.
    """
    folder = os.path.dirname(filename)  # noqa: PTH120
    todo, seen = [module], {""}
    for one in todo:
        parts = one.split(".")
        for name in (".".join(parts[:count]) for count in range(1, len(parts) + 1)):
            if name in seen or path_in_project(name, filename) is None:
                continue
            seen.add(name)
            imports = list(_imports(*_source(name, folder)))
            if any(one.partition(".")[0] == "flowdsl" for one in imports):
                return name
            todo += imports
    return None


def _source(module: str, folder: str) -> tuple[str | None, str | None]:
    """The file of a module, and its package; if it is not loaded, those that an import in the folder would find."""
    loaded = sys.modules.get(module)
    if loaded is not None:
        return loaded.__file__, loaded.__package__
    parts = module.split(".")
    places: list[str] = [folder, *sys.path]
    found: ModuleSpec | None = None
    for count in range(1, len(parts) + 1):
        try:
            found = PathFinder.find_spec(".".join(parts[:count]), places)
        except (ImportError, OSError, ValueError):
            return None, None
        if found is None:
            return None, None
        places = found.submodule_search_locations or []
    assert found is not None
    return found.origin, found.parent


def _imports(path: str | None, package: str | None) -> Iterator[str]:
    """The modules that a module imports or imports names of, and those that such names may be."""
    try:
        todo: list[ast.stmt] = ast.parse(Path(path).read_bytes()).body if path else []
    except (OSError, SyntaxError, ValueError):
        return
    for node in todo:
        match node:
            case ast.Import(names):
                yield from (one.name for one in names)
            case ast.ImportFrom(name, names, level):
                try:
                    origin = resolve_name("." * (level or 0) + (name or ""), package)
                except (ImportError, ValueError):
                    continue
                yield origin
                yield from (f"{origin}.{one.name}" for one in names)
            case ast.If(ast.Name("TYPE_CHECKING") | ast.Attribute(_, "TYPE_CHECKING"), _, other):
                todo += other
            case ast.If(_, body, other):
                todo += [*body, *other]
            case ast.With(_, body):
                todo += body
            case _:  # imports in `try` may be missing
                pass


def _relative(module: str, folder: str) -> str:
    """The path of a relatively imported module, relative to the folder of the file."""
    name = module.lstrip(".")
    path = Path(*[".."] * (len(module) - len(name) - 1), *name.split("."))
    return f"{path}.py" if Path(folder, f"{path}.py").is_file() else str(path)


def _path(module: str, top: str, folder: str) -> Path | None:
    """The file of a module, or its folder; if it is not loaded, those that would be found."""
    for name in (module, top):
        loaded = sys.modules.get(name)
        if loaded is not None:
            places = [getattr(loaded, "__file__", None), *getattr(loaded, "__path__", ())]
            return next((Path(place).resolve() for place in places if isinstance(place, str)), None)
    try:
        found = PathFinder.find_spec(top, [folder, *sys.path])
    except (ImportError, OSError, ValueError):
        return None
    if found is None:
        return None
    places = [found.origin, *(found.submodule_search_locations or ())]
    return next((Path(place).resolve() for place in places if place is not None), None)


def _project(filename: str) -> tuple[Path, ...]:
    file = Path(filename).resolve()
    found = [file.parent]
    for folder in file.parents:
        if any((folder / mark).exists() for mark in _MARKS):
            found.append(folder)
            break
    current = Path.cwd()
    if current in file.parents and current not in (Path(current.anchor), Path.home()):
        found.append(current)
    return tuple(found)
