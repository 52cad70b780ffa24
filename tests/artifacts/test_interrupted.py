"""Fetches that are killed, that run side by side, that find the disk full, and that are interrupted."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.artifacts.objects import Objects, endless, whole
from tests.artifacts.runs import Known, command, plain, stored, there, told, workflow
from tests.artifacts.test_fetch import tgz

Json = dict[str, Any]
On = Callable[[Json], Known]
ROOT = Path(__file__).resolve().parents[2]
PARTS = 4
"""Tests that share the writes at which a fetch is killed, and run beside each other."""

COMMAND = """
import json, sys
from tests.artifacts.runs import Known, command, reached
reached(Known(json.loads(sys.argv[1])))
sys.exit(command(sys.argv[2:]))
"""


def process(folder: Path, run: Json, *arguments: str, **more: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, json.dumps(run), *arguments],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


@pytest.fixture
def small(objects: Objects) -> Json:
    """A run of a folder, an archive, and a file."""
    objects.put("demo/model.tgz", tgz({"model/weights": b"w" * 100, "model/x": b"x"}))
    objects.put("demo/folder/a", b"a" * 50)
    objects.put("demo/folder/b", b"b" * 50)
    objects.put("demo/notes.txt", b"notes")
    artifacts = [
        stored("model", "demo/model.tgz"),
        plain("folder", "demo/folder"),
        plain("notes", "demo/notes.txt"),
    ]
    return workflow(objects.endpoint, {"make": {"artifacts": artifacts}})


@pytest.mark.parametrize("first", range(1, PARTS + 1))
def test_killed_at_any_write(on: On, small: Json, tmp_path: Path, first: int) -> None:
    on(small)
    assert command(["-o", "whole"]) == 0
    wanted = {name: hashlib.sha256(data).hexdigest() for name, data in there(tmp_path / "whole").items()}
    assert len(wanted) == 5
    made = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.artifacts.killed",
            str(tmp_path),
            json.dumps(small),
            json.dumps(wanted),
            str(first),
            str(PARTS),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert int(made.stdout.splitlines()[-1]) > 50


def test_what_was_begun_goes_on_where_it_ended(on: On, objects: Objects, tmp_path: Path) -> None:
    big = endless(64 << 20)
    objects.things["big"] = big
    run = workflow(objects.endpoint, {"make": {"artifacts": [plain("big", "big")]}})
    objects.cut = 40 << 20
    first = process(tmp_path, run)
    while not any(one.stat().st_size > 8 << 20 for one in (tmp_path / "demo").rglob("*.part")):
        time.sleep(0.01)
    first.kill()
    first.communicate()
    [part] = (tmp_path / "demo").rglob("*.part")
    had = part.stat().st_size
    while objects.sending:
        time.sleep(0.01)
    objects.cut, objects.sent = None, 0
    objects.asked.clear()
    on(run)
    assert command([]) == 0
    assert [asked for method, _, asked in objects.asked if method == "GET"] == [f"bytes={had}-"]
    assert objects.sent == big.size - had
    found = hashlib.sha256((tmp_path / "demo/make/big").read_bytes()).hexdigest()
    assert found == hashlib.sha256(b"".join(whole(big))).hexdigest()


def test_an_object_that_changed_meanwhile_begins_anew(on: On, objects: Objects, tmp_path: Path) -> None:
    objects.things["big"] = endless(32 << 20)
    run = workflow(objects.endpoint, {"make": {"artifacts": [plain("big", "big")]}})
    first = process(tmp_path, run)
    while not any(one.stat().st_size > 1 << 20 for one in (tmp_path / "demo").rglob("*.part")):
        time.sleep(0.01)
    first.kill()
    first.communicate()
    objects.put("big", b"another")
    on(run)
    assert command([]) == 0
    assert there(tmp_path / "demo") == {"make/big": b"another"}


def test_many_at_once_into_one_folder(objects: Objects, tmp_path: Path) -> None:
    for number in range(200):
        objects.put(f"demo/many/{number:03}", f"object {number}".encode())
    run = workflow(objects.endpoint, {"make": {"artifacts": [plain("many", "demo/many")]}})
    fetches = [process(tmp_path, run) for _ in range(4)]
    for one in fetches:
        _, said = one.communicate(timeout=120)
        assert one.returncode == 0, said
    assert len(there(tmp_path / "demo")) == 200
    assert len(objects.gets()) == 200
    assert len(told(tmp_path / "demo")["outputs"][0]["files"]) == 200


def test_a_full_disk_is_named_and_leaves_no_part(objects: Objects, tmp_path: Path) -> None:
    objects.things["big"] = endless(8 << 20)
    run = workflow(objects.endpoint, {"make": {"artifacts": [plain("big", "big")]}})

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))

    made = process(tmp_path, run, preexec_fn=limit)
    _, said = made.communicate()
    assert made.returncode == 2, said
    assert "is full: File too large; to continue when there is room: flowdsl fetch demo" in said
    assert [one for one in (tmp_path / "demo").rglob("*") if one.is_file() and one.name != "lock"] == []


def test_a_full_disk_while_unpacking_leaves_the_archive(on: On, objects: Objects, tmp_path: Path) -> None:
    objects.put("z.tgz", tgz({"m/a": b"a", "m/zeros": bytes(8 << 20)}))
    run = workflow(objects.endpoint, {"make": {"artifacts": [stored("z", "z.tgz")]}})

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))

    made = process(tmp_path, run, preexec_fn=limit)
    _, said = made.communicate()
    assert made.returncode == 2, said
    assert there(tmp_path / "demo") == {}
    objects.asked.clear()
    on(run)
    assert command([]) == 0
    assert objects.gets() == []
    assert there(tmp_path / "demo").keys() == {"make/z/a", "make/z/zeros"}


def test_ctrl_c_says_how_to_go_on(objects: Objects, tmp_path: Path) -> None:
    objects.things["big"] = endless(1 << 30)
    objects.put("a", b"a")
    run = workflow(objects.endpoint, {"make": {"artifacts": [plain("a", "a"), plain("big", "big")]}})
    made = process(tmp_path, run, "-o", "here", start_new_session=True)
    while not any(one.stat().st_size > 1 << 20 for one in (tmp_path / "here").rglob("*.part")):
        time.sleep(0.01)
    made.send_signal(signal.SIGINT)
    _, said = made.communicate(timeout=60)
    assert made.returncode == 130, said
    assert said.endswith("To continue:\n  flowdsl fetch demo -o here --cluster test\n"), said
    assert not (tmp_path / "here/run.json").exists()
