"""The stand-in's pods and files against what a real controller and kubelet did."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.kubelet import LONGEST, Paths, Python, Template, environment, expanded
from tests.cluster.manifests import ECHO, WRITE, dag, log, phases, script, task, workflow
from tests.cluster.node import ERROR, FAILED, SUCCEEDED
from tests.cluster.run import Cluster
from tests.cluster.store import Artifact, Clash, Store
from tests.cluster.tags import ArgoError

# --- text that comes from a step -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "arrived"),
    [
        *(
            (one, one)
            for one in [
                '"x" \\ \t',
                "two\nlines",
                "\U0001f600 \U0001f1e9\U0001f1ea \u2028",
                "null",
                "{{ x }}",
                "{{item}}",
            ]
        ),
        ("ends\n", "ends"),
        ("{{workflow.name}}", "wf-00001"),
        ("{{=1+1}}", "2"),
        ("$(FIRST) $(NONE)", "one $(NONE)"),
        ("$$", "$"),
    ],
)
def test_text_of_a_step_in_a_variable(cluster: Cluster, value: str, arrived: str) -> None:
    make = script("make", WRITE.format(ascii(value)), outputs=("v",))
    show = script("show", ECHO, ("v",))
    show["script"]["env"].insert(0, {"name": "FIRST", "value": "one"})
    main = dag(task("g", "make"), task("s", "show", "g", v="{{tasks.g.outputs.parameters.v}}"))
    assert log(cluster.run(workflow(main, make, show)), "s") == ascii(arrived)


def test_a_control_character_ends_the_node(cluster: Cluster) -> None:
    make, show = script("make", WRITE.format(ascii("\x07")), outputs=("v",)), script("show", ECHO, ("v",))
    run = cluster.run(
        workflow(
            dag(task("g", "make"), task("s", "show", "g", v="{{tasks.g.outputs.parameters.v}}")), make, show
        )
    )
    assert phases(run) == {"": ERROR, "g": SUCCEEDED, "s": ERROR}


@pytest.mark.parametrize(("length", "phase"), [(100_000, SUCCEEDED), (LONGEST, FAILED)])
def test_a_variable_has_a_longest_text(cluster: Cluster, length: int, phase: str) -> None:
    make, show = script("make", WRITE.format(f"'x' * {length}"), outputs=("v",)), script("show", ECHO, ("v",))
    run = cluster.run(
        workflow(
            dag(task("g", "make"), task("s", "show", "g", v="{{tasks.g.outputs.parameters.v}}")), make, show
        )
    )
    assert phases(run)["s"] == phase


def test_dollars_of_a_script(cluster: Cluster) -> None:
    """A template travels in a variable, in which the kubelet replaces what it knows, if it is not too long."""
    source = "print('$$ $(NONE) $HOME $(ARGO_WORKFLOW_NAME)', end='')\n"
    short, long = script("short", source), script("long", source + "#" * LONGEST)
    run = cluster.run(workflow(dag(task("s", "short"), task("l", "long")), short, long))
    assert log(run, "s") == "$ $(NONE) $HOME wf-00001"
    assert log(run, "l") == "$$ $(NONE) $HOME $(ARGO_WORKFLOW_NAME)"


def test_variables_of_a_container() -> None:
    entries = [
        ("A", "1", True),
        ("B", "$(A)$(C)$$(A)", True),
        ("C", "$(A) $$", False),
        ("D", "$(C) $(", True),
    ]
    assert environment(entries) == {"A": "1", "B": "1$(C)$(A)", "C": "$(A) $$", "D": "$(A) $$ $("}
    assert expanded("$$$(A)$x$", {"A": "1"}) == "$1$x$"
    assert Template("pod", "wf").carried("$(ARGO_POD_NAME)") == "pod"


def test_secrets_are_taken_as_they_are(cluster: Cluster) -> None:
    show = script("main", ECHO)
    show["script"]["env"] = [{"name": "v", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}]
    assert cluster.run(workflow(show)).entry.log == "'$$s'"


# --- files -----------------------------------------------------------------------------------------


def test_objects_below_a_key(tmp_path: Path) -> None:
    store = Store(tmp_path / "objects")
    folder = tmp_path / "folder"
    (folder / "empty").mkdir(parents=True)
    (folder / "file").write_text("one")
    (folder / "file").chmod(0o755)
    (folder / "link").symlink_to("file")
    store.put("x/p", folder)
    store.put("x/p2", folder / "file")
    assert sorted(store.objects) == ["x/p/file", "x/p2"]
    store.load(Artifact("x/p"), tmp_path / "got", "got")
    assert [(one.name, one.stat().st_mode & 0o111) for one in (tmp_path / "got").iterdir()] == [("file", 0)]
    store.put_archive("y.tgz", folder, "folder")
    store.load(Artifact("y.tgz"), tmp_path / "archived", "archived")
    assert sorted(one.name for one in (tmp_path / "archived").iterdir()) == ["empty", "file", "link"]
    store.load(Artifact("y.tgz", plain=True), tmp_path / "plain", "plain")
    assert (tmp_path / "plain").is_file()


def test_objects_that_are_missing(tmp_path: Path) -> None:
    store = Store(tmp_path / "objects")
    with pytest.raises(ArgoError, match="does not exist"):
        store.load(Artifact("x"), tmp_path / "a", "a")
    with pytest.raises(ArgoError, match="not supplied"):
        store.load(Artifact(), tmp_path / "b", "b")
    store.load(Artifact("x", optional=True), tmp_path / "c", "c")
    store.load(Artifact(optional=True), tmp_path / "d", "d")
    assert ((tmp_path / "c").is_dir(), (tmp_path / "d").exists()) == (True, False)
    (tmp_path / "file").write_text("x")
    store.put("k", tmp_path / "file")
    with pytest.raises(Clash):
        store.put("k", tmp_path / "file")


def test_artifacts_from_task_to_task(cluster: Cluster) -> None:
    make = script(
        "make", "import os\nos.mkdir('/tmp/flowdsl/f')\nopen('/tmp/flowdsl/f/x', 'w').write('in')\n"
    )
    make["outputs"]["artifacts"] = [{"name": "f", "path": "/tmp/flowdsl/f"}]
    show = script("show", "print(open('/tmp/flowdsl/got/x').read(), end='')")
    show["inputs"]["artifacts"] = [{"name": "f", "path": "/tmp/flowdsl/got"}]
    inner = dag(task("i", "show", artifacts=[{"name": "f", "from": "{{inputs.artifacts.f}}"}]), name="inner")
    inner["inputs"]["artifacts"] = [{"name": "f"}]
    given = [{"name": "f", "from": "{{tasks.g.outputs.artifacts.f}}"}]
    run = cluster.run(
        workflow(dag(task("g", "make"), task("s", "inner", "g", artifacts=given)), make, inner, show)
    )
    assert log(run, "s.i") == "in"


def test_volumes_and_empty_folders(cluster: Cluster) -> None:
    source = "open('/data/file', 'a').write('x')\nopen('/tmp/flowdsl/out/y', 'w')\n"
    source += "print('/database /data/file', end='')"
    main = script("main", source, volumes=[{"name": "out", "emptyDir": {}}])
    mounts = [
        {"name": "data", "mountPath": "/data", "subPath": "sub"},
        {"name": "out", "mountPath": "/tmp/flowdsl/out"},
    ]
    main["script"]["volumeMounts"] = mounts
    run = cluster.run(workflow(main))
    assert run.phase == SUCCEEDED, run.errors()
    assert (cluster.volumes["claim"] / "sub/file").read_text() == "x"
    assert run.entry.log == f"/database {cluster.volumes['claim']}/sub/file"


def test_paths_of_a_pod() -> None:
    paths = Paths({"/data": Path("/here/a"), "/data/deep": Path("/here/b")})
    assert (
        paths.here("/data /data/x '/data/deep/y' /database /x/data")
        == "/here/a /here/a/x '/here/b/y' /database /x/data"
    )
    assert paths.there("/here/b/y /here/a") == "/data/deep/y /data"


def test_containers_are_executed(cluster: Cluster) -> None:
    words = ["-c", 'printf "%s|" "$0" "$1" "$v"; exit 3', "zero", "$(v) $$"]
    container = {
        "image": "a:1",
        "command": ["sh"],
        "args": words,
        "env": [{"name": "v", "value": "$HOME 'x'"}],
    }
    run = cluster.run(workflow({"name": "main", "container": container}))
    assert (run.phase, run.entry.message) == (FAILED, "Error (exit code 3)")
    assert run.entry.log == "zero|$HOME 'x' $|$HOME 'x'|"


def test_a_script_runs_as_python_runs_it(tmp_path: Path, python: Python) -> None:
    source = """
import dataclasses, os, sys, typing

@dataclasses.dataclass
class Point:
    x: "int"

class Pair(typing.NamedTuple):
    one: int

print(Point(1), Pair(2), __name__, typing.get_type_hints(Point), os.getcwd(), sorted(os.environ), len(sys.argv))
sys.exit("the end")
"""
    script = tmp_path / "script"
    script.write_text(source)
    env = {"LC_CTYPE": "C.UTF-8", "B": "1"}
    assert python.run(script, env, tmp_path, tmp_path / "log") == 1
    done = subprocess.run(
        [sys.executable, "-I", str(script)],
        env=env,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert (tmp_path / "log").read_bytes() == done.stdout
    script.write_text("1 +")
    assert python.run(script, env, tmp_path, tmp_path / "other") == 1
    assert "SyntaxError" in (tmp_path / "other").read_text()
