"""What pods ask of the machine: how many run at a time, GPUs, and images by Docker or Podman."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import pytest

from flowdsl.runtime.local.controller.events import Outcome, PodEnded, PodRunning, StartPod
from flowdsl.runtime.local.pods import groups
from flowdsl.runtime.local.pods.amounts import amount, machine
from flowdsl.runtime.local.pods.refusal import Refusal
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.pods.units import shape
from tests.local.harness import PYTHON, Harness, harness, result, sh

Json = dict[str, Any]


def asks(text: str = "sleep 0.05", **requests: Any) -> Json:
    return sh(text, resources={"requests": requests})


def most(pods: Harness, count: int) -> int:
    """The most pods that ran at a time, out of `count`."""
    running = found = ended = 0
    while ended < count:
        event = pods.event()
        if isinstance(event, PodRunning):
            running += 1
        elif isinstance(event, PodEnded):
            assert event.outcome.phase == "Succeeded", event
            running -= 1
            ended += 1
        found = max(found, running)
    return found


@pytest.mark.parametrize(
    ("requests", "wanted"),
    [({"cpu": 1}, 2), ({"cpu": "1500m"}, 1), ({"memory": "400Mi"}, 2), ({"cpu": "100m", "memory": "1Mi"}, 6)],
)
def test_requests_bound_how_many_run_at_a_time(tmp_path: Path, requests: Json, wanted: int) -> None:
    with harness(tmp_path, cpu=2, memory=1 << 30) as pods:
        for number in range(6):
            pods.start(asks("sleep 0.3", **requests), f"n{number}")
        assert most(pods, 6) == wanted


KINDS: list[Json] = [{"cpu": 1}, {"cpu": 2}, {"cpu": "500m", "memory": "64Mi"}, {}]


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 125])
def test_short_steps_of_several_kinds_all_end_within_what_the_machine_has(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    kinds = random.sample(KINDS, 1 + seed % 3) if seed else [{"cpu": 1}]
    asked: dict[str, Json] = {f"n{number}": random.choice(kinds) for number in range(60)}
    stopped: set[str] = set()
    with harness(tmp_path, cpu=3, memory=1 << 30) as pods:
        for name, requests in asked.items():
            seconds, long = random.choice([0, 0, 0.01, 0.05]), "x" * random.choice([0, 0, 20_000])
            text = f"date +%s%N; sleep {seconds}; date +%s%N  # {long}"
            template = asks(text, **requests)
            if random.random() < 0.2:
                path = {"path": "/tmp/x", "default": "none"}
                template["outputs"] = {"parameters": [{"name": "x", "valueFrom": path}]}
            pods.start(template, name)
            if random.random() < 0.2:
                stopped.add(name)
        ended: dict[str, Outcome] = {}
        while len(ended) < len(asked):
            ended |= pods.ended()
            for name in [one for one in stopped if one not in ended and random.random() < 0.3]:
                pods.stop(name, "stopped")
    wrong = {name: one for name, one in ended.items() if one.phase != "Succeeded" and name not in stopped}
    assert not wrong
    moments: list[tuple[int, int]] = []
    for name, requests in asked.items():
        if ended[name].phase == "Succeeded":
            begin, end = map(int, pods.log(name).split())
            cpu = amount([{"resources": {"requests": requests}}]).get("cpu", 0)
            moments += [(begin, cpu), (end, -cpu)]
    assert max(accumulate(change for _, change in sorted(moments))) <= 3000


def test_long_results_that_come_at_once_are_not_mixed_up(tmp_path: Path) -> None:
    with harness(tmp_path, cpu=16) as pods:
        for letter in "abcdefghijklmnop":
            pods.start(sh(f"head -c 100000 /dev/zero | tr '\\0' {letter}"), letter, result=True)
        found = {name: result(one) for name, one in pods.ended(16).items()}
    assert found == {letter: letter * 100_000 for letter in "abcdefghijklmnop"}


def test_a_step_that_waits_in_line_and_is_stopped_lets_the_next_one_begin(tmp_path: Path) -> None:
    with harness(tmp_path, cpu=1) as pods:
        pods.start(asks("sleep 0.3", cpu=1), "first")
        for number in range(4):
            pods.start(asks("echo ran", cpu=1, memory=f"{number}Mi"), f"n{number}")
        pods.pods.attend(0.1)
        assert list(pods.pods.asked) == [f"n{number}" for number in range(4)]
        assert all(one.sent for one in pods.pods.pods.values())
        pods.stop("n0", "stopped")
        pods.stop("n2", "stopped")
        phases = {name: one.phase for name, one in pods.ended(5).items()}
        done = [name for name, phase in phases.items() if phase == "Succeeded"]
        assert done == ["first", "n1", "n3"]
        assert [pods.log(f"n{number}") for number in range(4)] == ["", "ran\n", "", "ran\n"]


def test_a_step_that_is_stopped_before_anybody_knows_that_it_ran_keeps_no_room(tmp_path: Path) -> None:
    outputs = {"parameters": [{"name": "x", "valueFrom": {"path": "/tmp/x", "default": "none"}}]}
    with harness(tmp_path, cpu=1) as pods:
        for number in range(5):
            pods.start(asks(":", cpu=1), f"first{number}")
            # Long enough that it does not end while the request is sent, even on busy cores.
            pods.start({**asks("sleep 0.3; echo ran > /tmp/x", cpu=1), "outputs": outputs}, f"second{number}")
            pods.pods.attend(0)
            time.sleep(0.6)  # both run, and nobody handles events
            pods.stop(f"second{number}", "stopped")
            done = pods.ended(2)
            assert done[f"second{number}"].message == "stopped"
        assert pods.shell("echo here") == Outcome("Succeeded", "", {"result": "here", "exitCode": "0"})
        assert (
            len(list(tmp_path.glob("run/pods-*/sandbox-*"))) <= 6
        )  # of three sandboxes, with their associated files


UNIFIED = {
    "own": "0::/pod/step\n",
    "pod/cpu.max": "150000 100000\n",
    "pod/memory.max": "1073741824\n",
    "pod/step/cpu.max": "max 100000\n",
    "pod/step/memory.max": "max\n",
}
SPLIT = {
    "own": "4:memory:/docker/12ab\n2:cpu,cpuacct:/docker/12ab\n1:name=systemd:/docker/12ab\n0::/\n",
    "memory/memory.limit_in_bytes": "1073741824\n",
    "cpu,cpuacct/cpu.cfs_quota_us": "150000\n",
    "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
}
OPEN = {"own": "0::/\n", "cpu.max": "max 100000\n", "memory/memory.limit_in_bytes": "9223372036854771712\n"}


@pytest.fixture
def container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, str]], None]]:
    """Lets this process appear to run in a container with the given control groups."""

    def made(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = tmp_path / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        monkeypatch.setattr(groups, "ROOT", tmp_path / "groups")
        monkeypatch.setattr(groups, "OWN", tmp_path / "groups/own")
        groups.allowed.cache_clear()

    yield made
    groups.allowed.cache_clear()


@pytest.mark.parametrize("files", [UNIFIED, SPLIT], ids=["v2", "v1"])
def test_a_container_may_allow_less_than_the_machine_has(
    tmp_path: Path, container: Callable[[dict[str, str]], None], files: dict[str, str]
) -> None:
    container(files)
    with harness(tmp_path) as pods:
        wanted: list[Json] = [{"cpu": 2}, {"memory": "2Gi"}, {"cpu": 1}, {"cpu": 1}]
        for number, requests in enumerate(wanted):
            pods.start(asks("sleep 0.2", **requests), f"n{number}")
        assert most(pods, 4) == 1
        alone = [one for one in pods.pods.notices if "runs alone" in one]
        assert alone == [
            "t asks for 2 CPUs, this machine has 1.5: it runs alone",
            "t asks for 2.0 GiB of memory, this machine has 1.0: it runs alone",
        ]


def test_a_container_without_limits_has_what_the_machine_has(
    container: Callable[[dict[str, str]], None],
) -> None:
    known = machine(None, None)
    container(OPEN)
    assert machine(None, None) == known


def test_a_step_that_asks_for_more_than_there_is_runs_alone(tmp_path: Path) -> None:
    with harness(tmp_path, cpu=2, memory=1 << 30) as pods:
        for name, cpu in (("a", 1), ("b", 64), ("c", 1)):
            pods.start(asks(cpu=cpu), name)
        assert most(pods, 3) == 1
        alone = [one for one in pods.pods.notices if "runs alone" in one]
        assert len(alone) == 1
        assert alone[0].startswith("t asks for 64 CPUs, this machine has ")


def test_pods_start_in_their_order(tmp_path: Path) -> None:
    with harness(tmp_path, cpu=1) as pods:
        for number in range(5):
            pods.start(asks("sleep 0.02", cpu=1), f"n{number}")
        assert list(pods.ended(5)) == [f"n{number}" for number in range(5)]


def test_what_a_step_had_is_free_while_its_outputs_are_taken(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    volumes: list[Json] = [{"name": "d", "hostPath": {"path": str(tmp_path)}}]
    more: Json = {
        "resources": {"requests": {"cpu": "1"}},
        "volumeMounts": [{"name": "d", "mountPath": "/host"}],
    }
    outputs = {"parameters": [{"name": "p", "valueFrom": {"path": "/host/fifo"}}]}
    with harness(tmp_path, cpu=1.0) as pods:
        pods.start({**sh(":", **more), "outputs": outputs}, "first", volumes=volumes)
        pods.start(sh("echo 1 > /host/fifo", **more), "second", volumes=volumes)
        done = pods.ended(2)
    assert done["second"].phase == "Succeeded"
    assert done["first"].outputs is not None
    assert done["first"].outputs["parameters"][0]["value"] == "1"


def test_limits_of_sidecars_count_too(tmp_path: Path) -> None:
    with harness(tmp_path, cpu=2) as pods:
        side = {"name": "s", "command": ["sleep", "100"], "resources": {"limits": {"cpu": 1}}}
        for number in range(2):
            pods.start({**asks("sleep 0.2", cpu=1), "sidecars": [side]}, f"n{number}")
        assert most(pods, 2) == 1


def program(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    made = folder / name
    made.write_text(text)
    made.chmod(0o755)
    return made


def test_gpus_are_given_to_one_step_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "\\n".join(f"GPU {number}: A100 (UUID: GPU-{number})" for number in range(2))
    program(tmp_path / "bin", "nvidia-smi", f"#!/bin/sh\nprintf '{lines}\\n'\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with harness(tmp_path) as pods:
        for number in range(4):
            body = sh("echo $CUDA_VISIBLE_DEVICES; sleep 0.2", resources={"limits": {"nvidia.com/gpu": 1}})
            pods.start(body, f"n{number}", result=True)
        found = [result(one) for one in pods.ended(4).values()]
        assert sorted(found) == ["0", "0", "1", "1"]
        both = sh("echo $CUDA_VISIBLE_DEVICES", resources={"limits": {"nvidia.com/gpu": 2}})
        assert result(pods.run(both, result=True)) == "0,1"
        many = sh("echo $CUDA_VISIBLE_DEVICES", resources={"limits": {"nvidia.com/gpu": 8}})
        assert result(pods.run(many, result=True)) == "0,1"
        assert "this machine has 2" in pods.pods.notices[-1]


def test_a_machine_without_a_gpu_says_so_once(tmp_path: Path) -> None:
    with harness(tmp_path, gpus=0) as pods:
        for number in range(2):
            body = sh("echo ${CUDA_VISIBLE_DEVICES-none}", resources={"limits": {"nvidia.com/gpu": 1}})
            assert result(pods.run(body, f"n{number}", result=True)) == "none"
        assert [one for one in pods.pods.notices if "GPU" in one] == [
            "this machine has no nvidia GPU: steps that ask for one run without it"
        ]


@pytest.mark.parametrize(
    ("resource", "vendor"),
    [("gpu.intel.com/i915", "intel"), ("google.com/tpu", "google"), ("nvidia.com/gpu.shared", "nvidia")],
)
def test_devices_of_every_vendor_are_missed(tmp_path: Path, resource: str, vendor: str) -> None:
    with harness(tmp_path, gpus=0) as pods:
        pods.run(sh("true", resources={"limits": {resource: 1}}))
        assert f"this machine has no {vendor} GPU: steps that ask for one run without it" in pods.pods.notices


DOCKER = f"""{PYTHON}
import json, os, re, sys
words = sys.argv[1:]
with open(os.environ["FAKE_LOG"], "a") as log:
    log.write(json.dumps(words) + "\\n")
if words[0] == "stop":
    os.kill(int(open(os.environ["FAKE_LOG"] + "." + words[-1]).read()), 15)
    sys.exit()
words = words[1:]
env, mounts, entry, cwd = {{"PATH": os.environ["PATH"]}}, [], None, "/"
while words[0].startswith("-"):
    flag = words.pop(0)
    if flag == "--rm":
        continue
    value = words.pop(0)
    if flag == "--name":
        open(os.environ["FAKE_LOG"] + "." + value, "w").write(str(os.getpid()))
    if flag == "--env-file":
        env.update(line.rstrip("\\n").split("=", 1) for line in open(value))
    if flag == "--env":
        name, _, text = value.partition("=")
        env[name] = text
    if flag == "-v":
        mounts.append(value.split(":")[:2])
    if flag == "--entrypoint":
        entry = value
image, *rest = words
rest = [entry or "echo", *rest]
places = {{path: source for source, path in mounts}}
known = re.compile("|".join(map(re.escape, sorted(places, key=len, reverse=True))))
rest = [known.sub(lambda found: places[found[0]], word) for word in rest]
env["IMAGE"] = image
os.execvpe(rest[0], rest, env)
"""


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A docker that records its arguments and runs the command on this machine, with the paths replaced."""
    program(tmp_path / "bin", "docker", DOCKER)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "docker.log"))
    return tmp_path / "docker.log"


def test_an_engine_runs_the_image(tmp_path: Path, docker: Path) -> None:
    with harness(tmp_path, engine="docker") as pods:
        text = "cat /data/in > /tmp/out; cat /in/x; echo $A $IMAGE"
        template: Json = {
            **sh(
                text,
                workingDir="/w",
                securityContext={"runAsUser": 1000},
                env=[{"name": "A", "value": "two\nlines"}],
                volumeMounts=[{"name": "d", "mountPath": "/data", "readOnly": True}],
            ),
            "inputs": {"artifacts": [{"name": "x", "path": "/in/x", "raw": {"data": "raw "}}]},
            "outputs": {"parameters": [{"name": "p", "valueFrom": {"path": "/tmp/out"}}]},
        }
        (tmp_path / "volumes/c").mkdir(parents=True)
        (tmp_path / "volumes/c/in").write_text("hello")
        volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}]
        done = pods.run(template, volumes=volumes, result=True)
        assert result(done) == "raw two lines busybox"
        assert done.outputs is not None
        assert done.outputs["parameters"][0]["value"] == "hello"
        assert not any("file system" in one for one in pods.pods.notices)
        line = re.sub(rf"{tmp_path}/run/pods-\d+-\d+/", "POD/", docker.read_text()).replace(
            str(tmp_path), "HERE"
        )
        assert json.loads(line) == [
            *("run", "--rm", "--name", "flowdsl-wf-one-main", "--network", "host"),
            *("--env-file", "POD/plain-1/environment", "--env", "A=two\nlines"),
            *("-v", "POD/plain-1/argo/staging:/argo/staging"),
            *("-v", "HERE/volumes/c:/data:ro"),
            *("-v", "POD/pod-0/inputs/x:/in/x"),
            *("-v", "POD/plain-1/tmp:/tmp"),
            *("-v", "POD/plain-1/var/run/argo:/var/run/argo"),
            *("--workdir", "/w", "--user", "1000", "--entrypoint", "sh", "busybox", "-c", text),
        ]
        script = {"script": {"image": "i", "command": ["python3"], "source": "print('from', 'script')"}}
        assert result(pods.run(script, result=True)) == "from script"
        assert "--user" not in json.loads(docker.read_text().splitlines()[-1])
        assert (
            result(pods.run({"container": {"image": "x", "args": ["of the image"]}}, result=True))
            == "of the image"
        )


@pytest.mark.parametrize(
    ("engine", "vendor", "words"),
    [
        ("docker", "nvidia", ["--gpus", '"device=0,1"']),
        ("docker", "amd", ["--device", "amd.com/gpu=0", "--device", "amd.com/gpu=1"]),
        ("podman", "nvidia", ["--device", "nvidia.com/gpu=0", "--device", "nvidia.com/gpu=1"]),
    ],
)
def test_an_engine_gives_gpus_to_the_container_that_asks(
    tmp_path: Path, docker: Path, engine: str, vendor: str, words: list[str]
) -> None:
    (tmp_path / "bin" / "docker").rename(tmp_path / "bin" / engine)
    template: Json = {
        **sh("true", resources={"limits": {f"{vendor}.com/gpu": 2}}),
        "initContainers": [{"name": "first", **sh("true")["container"]}],
    }
    with harness(tmp_path, engine=engine, gpus=4) as pods:
        assert pods.run(template).phase == "Succeeded"
    first, main = map(json.loads, docker.read_text().splitlines())
    assert [one in first for one in ("--gpus", "--device")] == [False, False]
    at = main.index(words[0])
    assert main[at : at + len(words)] == words


def test_an_engine_stops_a_container_by_its_name(tmp_path: Path, docker: Path) -> None:
    with harness(tmp_path, engine="docker") as pods:
        pods.start(sh("sleep 100"))
        end = time.monotonic() + 10
        while not docker.exists() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.2)
        pods.stop()
        assert pods.ended()["one"].phase == "Failed"
        assert '"stop", "--time", "2", "flowdsl-wf-one-main"' in docker.read_text()


def test_a_template_of_no_known_resources_is_refused() -> None:
    with pytest.raises(Refusal):
        shape(StartPod("n", "wf.n", "wf-n", {"container": {"image": "x"}}, [], False), Settings(), [])
