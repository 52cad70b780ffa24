"""What stands for ConfigMaps, Secrets and claims."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.commands import Result
from tests.run.files import SECRET, rows

if TYPE_CHECKING:
    from collections.abc import Callable


def test_nothing_of_a_run_is_committed(flowdsl: Callable[..., Result], folder: Path) -> None:
    flowdsl("pipeline.py", "-q")
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == [".flowdsl"]
    assert (folder / ".flowdsl/.gitignore").read_text(encoding="utf-8") == "*\n"


FOLDER = """
from pathlib import Path

from flowdsl import S3, pipeline, step


@step(image="python:3.12-slim")
def made() -> Path:
    return Path("made")


@step(image="python:3.12-slim")
def names(one: Path, other: Path) -> str:
    return " ".join(sorted(path.name for folder in (one, other) for path in folder.iterdir()))


@pipeline
def folders(given: Path = S3("given")) -> str:
    return names(given, made())
"""


def test_the_folder_that_a_run_is_in(flowdsl: Callable[..., Result], tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    os.chdir(there)
    Path("folder.py").write_text(FOLDER, encoding="utf-8")
    for _ in range(2):
        done = flowdsl("folder.py", "-p", "given=.", "--fake", "made=.", "-q")
        assert (done.code, ["return", "folder.py", "folder.py"] in rows(done.out)) == (0, True)
    done = flowdsl("folder.py", "-p", "given=", "-q")
    assert done.err == "flowdsl: -p given=: the path is empty; the current folder is -p given=.\n"


LIMITED = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: limited}
spec:
  entrypoint: main
  arguments: {parameters: [{name: word}]}
  templates:
    - name: main
      inputs:
        parameters:
          - {name: size, valueFrom: {configMapKeyRef: {name: limits, key: size}}}
      synchronization: {semaphores: [{configMapKeyRef: {name: limits, key: places}}]}
      container:
        image: "busybox:1.36"
        command: [sh, -c, "echo {{workflow.parameters.word}} {{inputs.parameters.size}} $TOKEN"]
        env:
          - {name: TOKEN, valueFrom: {secretKeyRef: {name: hub, key: token}}}
"""

OBJECTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: limits, labels: {workflows.argoproj.io/configmap-type: Parameter}}
data: {size: "7", places: "2"}
---
apiVersion: v1
kind: Secret
metadata: {name: hub}
data: {token: YWJj}
"""


def test_config_maps_and_secrets_of_the_files(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "all.yaml").write_text(f"{LIMITED}---{OBJECTS}")
    (folder / "limited.yaml").write_text(LIMITED)
    (folder / "objects.yaml").write_text(OBJECTS)
    (folder / "other.yaml").write_text(LIMITED.replace("name: limited", "name: other"))
    (folder / "size").write_text("size=8\nplaces=1\n")

    def printed(*words: str) -> str:
        done = flowdsl(*words, "-p", "word=hi")
        assert (done.code, "warning" in done.err) == (0, False)
        assert ("other: not run" in done.err) == ("other.yaml" in words)
        newest = max((folder / ".flowdsl/runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        (log,) = newest.glob("logs/*/main.log")
        return log.read_text()

    assert printed("all.yaml") == "hi 7 abc\n"
    assert printed("limited.yaml", "objects.yaml", "other.yaml") == "hi 7 abc\n"
    assert printed("all.yaml", "--config-map", "limits=size") == "hi 8 abc\n", "an option comes first"
    assert (
        printed("limited.yaml", "--config-map", "limits=objects.yaml", "--secret", "hub=all.yaml")
        == "hi 7 abc\n"
    )
    done = flowdsl("limited.yaml", "-p", "word=hi", "--secret", "hub=limited.yaml")
    assert done.code == 2
    assert "there is no Secret `hub` in that file; there is Workflow `limited`" in done.err


@pytest.mark.parametrize("line", ['{"token": "abc"}', "abc", "token: abc=", "=abc", "export token=abc"])
def test_a_line_that_is_no_pair_is_told_and_not_shown(
    line: str, flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "secret.py").write_text(SECRET, encoding="utf-8")
    given = f"hub={(folder / 'hub.env').resolve()}"
    (folder / "hub.env").write_text(f"# of the hub\n{line}\n", encoding="utf-8")
    said = "its line 2 is not KEY=VALUE; write such lines, or name a folder with a file for each key"
    assert flowdsl("secret.py", "--secret", given) == (2, "", f"flowdsl: --secret {given}: {said}\n")


CLAIMED = """
from pathlib import Path

from flowdsl import Volume, pipeline, step

DATA = Volume("corpora")


@step(image="python:3.12-slim")
def size(raw: Path) -> int:
    return len(raw.read_text())


@pipeline
def sizes(raw: Path = DATA / "raw.txt") -> int:
    return size(raw)
"""


@pytest.mark.parametrize("name", ["corpora", "corpora-nfs"])
def test_a_claim_is_named_as_itself_or_as_its_volume(
    name: str, flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "sizes.py").write_text(CLAIMED, encoding="utf-8")
    profile = 'default-cluster = "lab"\n[clusters.lab.volumes]\ncorpora = { claim = "corpora-nfs" }\n'
    (folder / "flowdsl.toml").write_text(profile, encoding="utf-8")
    (folder / "here").mkdir()
    (folder / "here" / "raw.txt").write_text("four", encoding="utf-8")
    assert json.loads(flowdsl("sizes.py", "--mount", f"{name}=here", "--json").out)["outputs"] == {
        "return": 4
    }
    given = ("--mount", f"{name}=here", "-p", "raw=here/raw.txt")
    assert json.loads(flowdsl("sizes.py", *given, "--json").out)["outputs"] == {"return": 4}
