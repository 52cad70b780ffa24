"""Files that scripts take and give."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

from flowdsl.compiler.ports import (
    FromBundle,
    FromEnvPath,
    FromFolder,
    Reader,
    Writer,
)
from flowdsl.compiler.steps.script import script
from flowdsl.values import types as t
from tests.script.pods import Python, Step, check, every_python, execute, names_in

FILES = """
import os
from pathlib import Path
from typing import NamedTuple, Optional

class Score(NamedTuple):
    loss: float
    model: Path
    log: Optional[Path]

class Made(NamedTuple):
    file: Path
    folder: Path
    none: Optional[Path]
    some: Optional[Path]
    listed: list[Path]
    named: dict[str, Path]
    scores: list[Score]
    deep: dict[str, tuple[int, list[Path]]]
    returned: Path

@step(image="python")
def step(given: Path) -> Made:
    Path("run.sh").write_text("x")
    os.chmod("run.sh", 0o750)
    Path("folder/empty").mkdir(parents=True)
    Path("folder/data").write_text("d")
    os.symlink("data", "folder/link")
    os.symlink("nowhere", "folder/broken")
    os.symlink("folder/data", "linked")
    for name in ("a", "b"):
        Path(name).write_text(name)
    a, b = Path("a"), Path("b").absolute()
    return Made(Path("run.sh"), Path("folder"), None, a, [a, b, a, Path("linked")],
                {"x y": a, "b": Path("folder")}, [Score(1, a, None), Score(float("nan"), a, b)],
                {"k": (1, [a, b])}, given)
"""

TAKES_FILES = """
from pathlib import Path
from typing import NamedTuple, Optional

class Score(NamedTuple):
    loss: float
    model: Path
    log: Optional[Path]

@step(image="python")
def step(
    file: Path, folder: Path, none: Optional[Path], some: Optional[Path], listed: list[Path],
    named: dict[str, Path], scores: list[Score], deep: dict[str, tuple[int, list[Path]]], returned: Path,
) -> list[str]:
    assert type(deep["k"]) is tuple and all(type(score) is Score for score in scores)
    return [repr(one) for one in (
        none, some and some.read_text(), [path.read_text() for path in listed],
        {key: path.is_dir() for key, path in named.items()},
        [(score.loss, score.model.read_text(), score.log and score.log.read_text()) for score in scores],
        (deep["k"][0], [path.read_text() for path in deep["k"][1]]), returned.read_text())]
"""


@every_python
def test_files_from_one_step_to_the_next(python: Python, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    (first / "in").mkdir(parents=True)
    (first / "in" / "given").write_text("given")
    second.mkdir()
    # Files of a failed attempt are replaced, whatever they are.
    (first / "out" / "file").mkdir(parents=True)
    (first / "out" / "file" / "old").write_text("old")
    (first / "out" / "folder").write_text("old")
    pod = check(Step(FILES, first).run(first, python=python))
    names = {"file", "folder", "some", "listed", "named", "scores", "deep", "returned"}
    assert names_in(pod.out) == names
    assert stat.S_IMODE((pod.out / "file").stat().st_mode) == 0o750
    assert (pod.out / "folder" / "empty").is_dir()
    assert (pod.out / "folder" / "link").readlink() == Path("data")
    assert (pod.out / "folder" / "broken").readlink() == Path("nowhere")
    assert names_in(pod.out / "listed") == {"0-a", "1-b", "2-a", "3-linked"}
    assert not (pod.out / "listed" / "3-linked").is_symlink()
    assert names_in(pod.out / "named") == {"b", "x y"}
    assert names_in(pod.out / "scores") == {"0-a", "1-a", "2-b", "value.json"}
    assert (first / "in" / "given").exists(), "an input that is returned is copied, not moved"
    shutil.copytree(pod.out, second / "in", symlinks=True)
    pod = check(Step(TAKES_FILES, second).run(second, python=python))
    assert json.loads(pod.values["return"]) == [
        "None",
        "'a'",
        "['a', 'b', 'a', 'd']",
        "{'b': True, 'x y': False}",
        "[(1.0, 'a', None), (nan, 'a', 'b')]",
        "(1, ['a', 'b'])",
        "'given'",
    ]


def test_places_of_files_in_variables(tmp_path: Path) -> None:
    source = """
from pathlib import Path
from typing import NamedTuple
class Row(NamedTuple):
    path: Path
@step(image="python")
def step(listed: list[Path], rows: list[Row]) -> Path:
    Path("x").write_text(listed[0].read_text() + rows[0].path.read_text())
    return Path("x")
"""
    step = Step(source, tmp_path)
    for name, text in {"l/0-a": "A", "r/0-b": "B", "r/value.json": '[{"path": "0-b"}]'}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    variables = {
        "l": str(tmp_path / "l"),
        "r": str(tmp_path / "r"),
        "o": str(tmp_path / "made" / "here" / "o"),
    }
    inputs: list[tuple[str, Reader]] = [
        ("listed", FromFolder(FromEnvPath("FLOWDSL_l"))),
        ("rows", FromBundle(FromEnvPath("FLOWDSL_r"), step.type_of("rows"))),
    ]
    made = script(step.carried, inputs, [Writer("return", (), t.FILE, FromEnvPath("FLOWDSL_o"))])
    check(execute(made, tmp_path, variables))
    assert (tmp_path / "made" / "here" / "o").read_text() == "AB"
