"""Volumes that steps share, files from outside of the run, and choices between files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.compiler.ports import IN, FromEnvPath, FromFile, FromFirst
from flowdsl.tracing.trace import OutsidePipeline
from tests.script.pods import Step, check

HEAD = """
from pathlib import Path
from flowdsl import *

I = "python:3.12-slim"
ONCE = Volume("once", mode="ReadWriteOnce")
NEW = NewVolume("new", "1Gi")
OLD = Volume("old", mode="ReadWriteOnce")
POD = Volume("pod", mode="ReadWriteOncePod")
MANY = Volume("many")

@step(image=I, mounts={"/once": ONCE})
def write(x: int = 0) -> int:
    return x

@step(image=I, mounts={"/once": ONCE.ro, "/old": (OLD / "a").ro})
def read(x: int = 0) -> int:
    return x

@step(image=I, mounts={"/new": NEW / "a"})
def fill(x: int = 0) -> int:
    return x

@step(image=I, mounts={"/pod": POD, "/many": MANY})
def other(x: int = 0) -> int:
    return x

@step(image=I)
def take(file: Path, x: int = 0) -> int:
    return x

@pipeline
def inner(x: int) -> int:
    return write(x)
"""


def compiled(tmp_path: Path, body: str, decorator: str = "@pipeline", parameters: str | None = None) -> Any:
    file = tmp_path / "case.py"
    if parameters is None:
        parameters = "flag: bool = True" if "flag" in body else ""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    file.write_text(f"{HEAD}\n{decorator}\ndef main({parameters}) -> None:\n{lines}")
    return compile_loaded(load(file), "main")


def codes(found: Any) -> list[str]:
    return [one.finding.code for one in found.diagnostics]


@pytest.mark.parametrize(
    "body",
    [
        "a = write()\nb = write(a)",
        "a = write()\nb = write.options(after=[a])(1)",
        "a = write()\nm = read(a)\nb = write(m)",
        "a = write()\nfill(1)",
        "a = read()\nb = read(1)\nfan_out(read, over={'x': [1, 2]})",
        "a = other()\nb = other(1)\nfan_out(other, over={'x': [1, 2]})",
        "a = write()\nb = inner(a)",
        "fan_out(write, over={'x': [1]})",
        "fan_out(write, over={'x': [1, 2, 3]}, parallel=1)",
        "fan_out(inner, over={'x': [1, 2, 3]}, parallel=1)",
        "with when(flag):\n    write(1)\nwith otherwise():\n    write.options(name='b')(2)",
        "with unless(flag):\n    inner(1)\nwith when(flag):\n    write(2)",
        "n = {'kubernetes.io/hostname': 'a'}\nwrite.options(node=n)(1)\nwrite.options(node=n, name='b')(2)",
        "n = {'host': 'a'}\nwrite.options(node=n)(1)\nwrite.options(node=n, name='b')(2)",
        "a = write()\nwith when(a > 1):\n    write.options(name='b')(2)",
        "write(1)\nwrite.options(mounts={'/once': ONCE.ro}, name='b')(2)",
    ],
)
def test_steps_that_cannot_meet_share_a_volume(tmp_path: Path, body: str) -> None:
    assert codes(compiled(tmp_path, body)) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a = write()\nb = write(1)", ["FD630"]),
        ("a = write()\nb = inner(1)", ["FD630"]),
        ("a = inner(1)\nb = inner(2)", ["FD630"]),
        ("a = write()\nb = read(a)\nc = write(2)\nd = write(b)", ["FD630", "FD630"]),
        ("a = fill()\nb = fill(1)", ["FD630"]),
        ("with when(flag):\n    write(1)\nwrite.options(name='b')(2)", ["FD630"]),
        ("fan_out(write, over={'x': [1, 2]})", ["FD631"]),
        ("fan_out(inner, over={'x': [1, 2]}, parallel=2)", ["FD631"]),
        ("sweep(write, over={'x': choice(1, 2)}, trials=2, objective=minimize('return'))", ["FD631"]),
        ("read.options(mounts={'/x': ONCE}, name='a')(1)\nwrite(2)", ["FD630"]),
    ],
)
def test_steps_that_may_meet_do_not(tmp_path: Path, body: str, expected: list[str]) -> None:
    assert codes(compiled(tmp_path, body)) == expected


def test_a_run_of_one_pod_at_a_time_shares_any_volume(tmp_path: Path) -> None:
    assert codes(compiled(tmp_path, "a = write()\nb = write(1)", "@pipeline(parallelism=1)")) == []


def test_the_texts_of_a_source_cross_the_groups_of_a_large_graph(tmp_path: Path) -> None:
    """A location is written where the step is called; the values in it are passed to the group."""
    body = "first = read()\n" + "\n".join(
        f"t{number} = take(S3(f'raw/{{first}}/{number}', 'data'), {f't{number - 1}' if number % 150 else 'first'})"
        for number in range(300)
    )
    found = compiled(tmp_path, body)
    assert codes(found) == []
    graphs = [one for one in found.documents[0]["spec"]["templates"] if "dag" in one]
    assert len(graphs) > 1
    keys: list[str] = []
    for graph in graphs:
        inside = {task["name"] for task in graph["dag"]["tasks"]}
        if "first" in inside:
            value = "tasks.first.outputs.parameters.return"
        else:
            value = "inputs.parameters.first-return"
            assert {"name": "first-return"} in graph["inputs"]["parameters"]
        found_keys = [
            artifact["s3"]["key"]
            for task in graph["dag"]["tasks"]
            for artifact in task["arguments"].get("artifacts", ())
            if "s3" in artifact
        ]
        assert all(key.startswith(f"raw/{{{{{value}}}}}/") for key in found_keys)
        keys += found_keys
    assert len(keys) == 300


def test_a_choice_that_the_step_makes(tmp_path: Path) -> None:
    """The first file that exists, else the last one."""
    source = """
from pathlib import Path

@step(image="python")
def step(file: Path) -> str:
    return file.read_text()
"""
    step = Step(source, tmp_path)
    first = FromFirst(
        (FromFile(f"{IN}/file-0", True), FromEnvPath("FLOWDSL_file__1", True), FromFile(f"{IN}/file-2"))
    )
    folder = tmp_path / "pod"
    (folder / "in").mkdir(parents=True)
    volume = tmp_path / "volume.txt"
    for path, text in ((folder / "in/file-2", "last"), (volume, "volume"), (folder / "in/file-0", "first")):
        path.write_text(text)
        where = str(volume) if volume.exists() else ""
        pod = check(step.run(folder, {"file__1": where}, readers={"file": first}))
        assert pod.values == {"return": text}


def test_a_choice_may_end_in_nothing(tmp_path: Path) -> None:
    """If no file exists, and the step accepts None."""
    body = "a = maybe()\nwith when(flag):\n    b = maybe.options(name='b')()\nuse(either(a, b))"
    maybe = "@step(image=I)\ndef maybe() -> Path | None:\n    return None\n\n"
    use = "@step(image=I)\ndef use(file: Path | None) -> None:\n    print(file)\n\n"
    found = compiled(tmp_path, body, f"{maybe}{use}@pipeline")
    assert codes(found) == []
    (made,) = (one for one in found.documents[0]["spec"]["templates"] if one["name"].startswith("use"))
    assert [one["optional"] for one in made["inputs"]["artifacts"]] == [True, True]
    assert (
        'file=if_there("/tmp/flowdsl/in/file-0") or if_brought("/tmp/flowdsl/in/file-1")'
        in made["script"]["source"]
    )


def test_a_source_is_no_file_of_this_machine(tmp_path: Path) -> None:
    from flowdsl import S3, Raw

    with pytest.raises(OutsidePipeline, match="pass it to a step"):
        Path(S3("raw") / "a.txt")
    with pytest.raises(TypeError):
        repr(Raw("text") / "a.txt")
    assert repr(S3("raw") / "a" / "b.txt") == "S3('raw/a/b.txt')"
