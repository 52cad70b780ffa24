"""Scripts of steps, run as Argo runs them: inputs in variables and files, outputs collected from files."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import pytest

from flowdsl.compiler.carry.carry import Carried, ModuleSource, carry
from flowdsl.compiler.load import load
from flowdsl.compiler.ports import (
    IN,
    OUT,
    FromEnv,
    Reader,
    Writer,
    file_reader,
)
from flowdsl.compiler.steps.script import script
from flowdsl.values import types as t
from flowdsl.values.signature import read


class Python(NamedTuple):
    version: tuple[int, int]
    path: str

    def __str__(self) -> str:
        return f"{self.version[0]}.{self.version[1]}"


def _runs(python: str) -> bool:
    """Whether an interpreter works: a shim of pyenv in the PATH may not."""
    return subprocess.run([python, "-c", "pass"], capture_output=True, check=False).returncode == 0


def pythons() -> list[Python]:
    """The current interpreter, and one for each other installed version from 3.8 on."""
    found = {sys.version_info[:2]: sys.executable}
    for minor in range(8, 16):
        installed = [*map(str, Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))]
        installed += filter(None, [shutil.which(f"python3.{minor}")])
        for candidate in installed:
            if (3, minor) not in found and _runs(candidate):
                found[3, minor] = candidate
    return [Python(version, path) for version, path in sorted(found.items())]


PYTHONS = pythons()

every_python = pytest.mark.parametrize("python", PYTHONS, ids=str)


class Pod(NamedTuple):
    """The results of a script: its output parameters as Argo reads them, and its folders."""

    code: int
    stdout: str
    stderr: str
    folder: Path

    @property
    def values(self) -> dict[str, str]:
        return {path.name: argo(path.read_bytes()) for path in self.out.iterdir() if path.is_file()}

    @property
    def out(self) -> Path:
        return self.folder / "out"


def argo(data: bytes) -> str:
    """An output file as the executor reads it, which becomes the variable of the next step.

    One line break at the end is removed. It may contain no tag, and nothing that Go quotes unlike JSON.
    """
    text = data.decode()
    text = text.removesuffix("\n")
    assert "{{" not in text
    assert not any((one < " " and one not in "\t\n\r\b\f") or one == "\x7f" for one in text)
    return text


class Step:
    """One step of a loaded module, as a script."""

    def __init__(self, source: str, folder: Path, name: str = "step") -> None:
        path = folder / "pipeline.py"
        path.write_text("from flowdsl import step\n" + source, encoding="utf-8")
        self.loaded = load(path)
        self.name = name
        found: Any = vars(self.loaded.module)[name]
        while not isinstance(found, FunctionType):
            found = found.__wrapped__
        self.signature = read(found)
        module = ModuleSource(self.loaded.source, vars(self.loaded.module))
        kinds = [parameter.type for parameter in self.signature.parameters]
        carried, problems = carry(found, module, {cls for kind in kinds for cls in classes_in(kind)})
        assert not problems
        assert carried is not None
        self.carried: Carried = carried

    def type_of(self, name: str) -> t.Type:
        return self.signature.by_name[name].type

    def cls(self, name: str) -> type[Any]:
        found: type[Any] = vars(self.loaded.module)[name]
        return found

    def script(self, readers: Mapping[str, Reader] | None = None) -> str:
        inputs: list[tuple[str, Reader]] = []
        for parameter in self.signature.parameters:
            kind = parameter.type
            plain: Reader = FromEnv(f"FLOWDSL_{parameter.name}", kind)
            if t.holds_file(kind):
                plain = file_reader(f"{IN}/{parameter.name}", kind)
            inputs.append((parameter.name, (readers or {}).get(parameter.name, plain)))
        outputs = t.outputs(self.signature.returns)
        writers = [Writer(one.name, one.keys, one.type, f"{OUT}/{one.name}") for one in outputs]
        return script(self.carried, inputs, writers)

    def run(
        self,
        folder: Path,
        values: Mapping[str, str] | None = None,
        *,
        readers: Mapping[str, Reader] | None = None,
        python: Python | None = None,
    ) -> Pod:
        return execute(self.script(readers), folder, values or {}, python)


def execute(source: str, folder: Path, values: Mapping[str, str], python: Python | None = None) -> Pod:
    """Run a script in a folder with the pod's inputs in `in`; `values` are those of the parameters."""
    (folder / "out").mkdir(parents=True, exist_ok=True)
    (folder / "work").mkdir(exist_ok=True)
    file = folder / "script"
    file.write_text(
        source.replace(IN, str(folder / "in")).replace(OUT, str(folder / "out")), encoding="utf-8"
    )
    done = subprocess.run(
        [python.path if python else sys.executable, str(file)],
        env={f"FLOWDSL_{name}": value for name, value in values.items()},
        cwd=folder / "work",
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return Pod(done.returncode, done.stdout, done.stderr, folder)


def classes_in(kind: t.Type) -> list[type[Any]]:
    match kind:
        case t.Enumeration(cls):
            return [cls]
        case t.Record(cls, fields):
            return [cls, *itertools.chain(*(classes_in(field.type) for field in fields))]
        case t.Sequence(item) | t.Mapping(item) | t.Maybe(item):
            return classes_in(item)
        case t.Fixed(items):
            return list(itertools.chain(*map(classes_in, items)))
        case _:
            return []


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def check(pod: Pod) -> Pod:
    assert (pod.code, pod.stderr) == (0, "")
    return pod
