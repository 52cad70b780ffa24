"""Steps on several pods: the objects that they become in a run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from flowdsl.cli.app import run
from tests.distributed_objects import Object, made

EXAMPLE = Path(__file__).parents[1] / "examples/distributed/pipeline.py"
CASE = Path(__file__).parent / "lowering/distributed.py"
OPERATED = Path(__file__).parent / "lowering/pytorchjob.py"
NOTE = 'a "quoted" $(HOME) $$ {brace} \\ é\nsecond: line'


def jobs(name: str, note: str = "x") -> list[Object]:
    """The Jobs of a step."""
    found = made(CASE, {"note": note})
    return [one for one in found if one["kind"] == "Job" and one["metadata"]["name"].startswith(f"{name}-")]


def variables(job: Object) -> dict[str, str]:
    """The variables of the pods of a Job that have a literal value."""
    (container,) = job["spec"]["template"]["spec"]["containers"]
    return {one["name"]: one["value"] for one in container["env"] if "value" in one}


def test_values_of_the_run_reach_the_pods_as_they_are() -> None:
    first = variables(jobs("train", NOTE)[0])
    assert first["FLOWDSL_note"] == NOTE.replace("$", "$$")  # the kubelet turns two into one
    assert first["SHOWN"] == "$$(HOME) costs 3$$"
    assert json.loads(first["FLOWDSL_words"].replace("$$", "$")) == ["a", NOTE]


def test_every_call_and_item_has_a_job_and_a_name_of_its_own() -> None:
    found = made(CASE, {})
    names = [(one["kind"], one["metadata"]["name"]) for one in found]
    assert len(set(names)) == len(names)
    train = jobs("train")
    assert len(train) == 3
    for job in train:
        (service,) = (
            one
            for one in found
            if one["kind"] == "Service" and f"{one['metadata']['name']}-0" == job["metadata"]["name"]
        )
        pods = job["spec"]["template"]
        assert service["spec"]["selector"].items() <= pods["metadata"]["labels"].items()
        assert pods["spec"]["subdomain"] == service["metadata"]["name"]
        address = f"{job['metadata']['name']}-0.{service['metadata']['name']}"
        assert variables(job)["MASTER_ADDR"] == address


def test_a_process_has_a_gpu() -> None:
    (train, *_) = jobs("train")
    assert train["spec"]["completions"] == train["spec"]["parallelism"] == 4
    assert (variables(train)["WORLD_SIZE"], variables(train)["LOCAL_WORLD_SIZE"]) == ("8", "2")
    (export,) = jobs("export")
    assert {name: value for name, value in variables(export).items() if name.startswith("PET_N")} == {
        "PET_NNODES": "2",
        "PET_NPROC_PER_NODE": "8",
    }


#: Starts a script whose `Popen` is slow, as on a busy machine.
SLOWLY = """
import runpy, subprocess, sys, time

class Slow(subprocess.Popen):
    def __init__(self, *words, **options):
        time.sleep(0.4)
        super().__init__(*words, **options)

subprocess.Popen = Slow
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_a_process_that_fails_before_the_next_one_begins_ends_the_pod(tmp_path: Path) -> None:
    given = variables(jobs("train")[0])
    start, found, _ = given["FLOWDSL_SCRIPT"].partition("\n_flowdsl_start()\n")
    rest = "import os, sys, time\ntime.sleep(0 if os.environ['RANK'] == '0' else 120)\nsys.exit(7)\n"
    (tmp_path / "step.py").write_text(start + found + rest, encoding="utf-8")
    env = {**os.environ, "LOCAL_WORLD_SIZE": "2", "NODE_RANK": "0", "MASTER_ADDR": "127.0.0.1"}
    command = [sys.executable, "-c", SLOWLY, str(tmp_path / "step.py")]
    assert subprocess.run(command, env=env, check=False, timeout=60).returncode == 7


def test_workers_of_tensorflow_know_each_other() -> None:
    (job,) = jobs("evaluate")
    name = job["metadata"]["name"]
    config = json.loads(variables(job)["TF_CONFIG"].replace("$(NODE_RANK)", "1"))
    hosts = [f"{name}-{worker}.{name}:2222" for worker in range(2)]
    assert config == {"cluster": {"worker": hosts}, "task": {"type": "worker", "index": 1}}


def test_the_pods_end_with_the_step_and_with_the_run() -> None:
    assert jobs("train")[0]["spec"]["activeDeadlineSeconds"] == 6 * 3600  # timeout of the step
    assert jobs("evaluate")[0]["spec"]["activeDeadlineSeconds"] == 12 * 3600  # timeout of the run


def test_the_object_of_an_operator_has_the_same_pods() -> None:
    train, export = made(OPERATED, {})
    assert {one["kind"] for one in (train, export)} == {"PyTorchJob"}
    replicas = train["spec"]["pytorchReplicaSpecs"]
    assert {role: one["replicas"] for role, one in replicas.items()} == {"Master": 1, "Worker": 2}
    assert replicas["Master"]["template"] == replicas["Worker"]["template"]
    assert export["spec"]["pytorchReplicaSpecs"].keys() == {"Master"}
    assert (train["spec"]["runPolicy"]["activeDeadlineSeconds"], train["spec"]["nprocPerNode"]) == (
        6 * 3600,
        "2",
    )
    assert train["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "team-a"}


def test_names_of_an_operators_pods_are_short_enough(folder: Path) -> None:
    source = OPERATED.read_text(encoding="utf-8").replace("train", "t" * 60)
    (folder / "pipeline.py").write_text(source, encoding="utf-8")
    long = made(folder / "pipeline.py", {})[0]["metadata"]["name"]
    assert len(f"{long}-worker-999") <= 63


def test_ports_of_a_patch_stand_beside_those_of_the_operator(folder: Path) -> None:
    patch = 'argo={"script": {"ports": [{"name": "board", "containerPort": 6006}]}}, '
    source = OPERATED.read_text(encoding="utf-8").replace("@step(", f"@step({patch}", 1)
    (folder / "pipeline.py").write_text(source, encoding="utf-8")
    train = made(folder / "pipeline.py", {})[0]
    (container,) = train["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"]
    assert [one["name"] for one in container["ports"]] == ["pytorchjob-port", "board"]


BROKEN = """
import os
import signal
import time

from flowdsl import Torch, Volume, pipeline, step

SHARED = Volume("shared", mode="ReadWriteMany")


@step(image="python:3.12-slim", cpu=0.1, distributed=Torch(workers=2, processes=2), store=SHARED / "runs")
def train() -> int:
    if os.environ["RANK"] == "3":
        raise ValueError("the loss is NaN")
    signal.signal(signal.SIGTERM, lambda number, frame: print("asked to end", flush=True) or os._exit(1))
    time.sleep(100)
    return 1


@pipeline
def nightly() -> int:
    return train()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("operator", "pod"),
    [
        ("", "1"),
        (', operator="pytorchjob"', "worker-0"),
        (', operator="jobset"', "worker-1"),
        (', operator="trainjob"', "node-1"),
    ],
)
def test_a_process_that_fails_ends_all_and_is_the_one_that_is_shown(
    folder: Path, capsys: pytest.CaptureFixture[str], operator: str, pod: str
) -> None:
    source = BROKEN.replace("processes=2", f"processes=2{operator}")
    (folder / "pipeline.py").write_text(source, encoding="utf-8")
    assert run(["run", "pipeline.py", "--name", "one"]) == 1
    said = capsys.readouterr().out
    assert "| ValueError: the loss is NaN" in said
    assert said.endswith("after a change: flowdsl run pipeline.py --from train --of one\n")
    assert run(["logs", "one", "train"]) == 0
    assert f"train.workers/{pod} | ValueError: the loss is NaN" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("operator", "port", "pod"),
    [("pytorchjob", 29511, "master-0"), ("jobset", 29512, "worker-0"), ("trainjob", 29513, "node-0")],
)
def test_the_example_runs_with_an_operator_too(
    folder: Path, capsys: pytest.CaptureFixture[str], operator: str, port: int, pod: str
) -> None:
    source = EXAMPLE.read_text(encoding="utf-8")
    assert source.count("Torch(workers=") == 1
    (folder / "pipeline.py").write_text(
        re.sub(r"Torch\((workers=\d+)", rf'Torch(\1, port={port}, operator="{operator}"', source),
        encoding="utf-8",
    )  # tests run in parallel
    assert run(["run", "pipeline.py", "-q", "--name", "one"]) == 0
    assert run(["logs", "one", "trained"]) == 0
    assert f"trained.workers/{pod} | " in capsys.readouterr().out


def test_a_trainjob_is_tried_again_as_a_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = BROKEN.replace("processes=2", 'processes=2, operator="trainjob"')
    source = source.replace("distributed=", "retries=1, distributed=")
    (folder / "pipeline.py").write_text(source, encoding="utf-8")
    assert run(["run", "pipeline.py", "--name", "one"]) == 1
    said = capsys.readouterr().out
    assert "train      Failed" in said
    assert "2 attempts: No more retries left" in said
    assert run(["logs", "one", "--failed"]) == 0
    assert "train.workers, attempt 2/node-1 | ValueError: the loss is NaN" in capsys.readouterr().out
    source = source.replace('os.environ["RANK"] == "3"', "False").replace("time.sleep(100)", "pass")
    (folder / "pipeline.py").write_text(source, encoding="utf-8")
    assert run(["run", "pipeline.py", "--name", "two", "--from", "workers", "--of", "one"]) == 0
    assert run(["run", "pipeline.py", "--name", "three", "--from", "results", "--of", "two"]) == 0
    assert "train.workers: from two" in capsys.readouterr().err
    assert run(["run", "pipeline.py", "--only", "workers", "--of", "two"]) == 2
    said = "it waits for an object that a step beside it makes: run both, --only train"
    assert capsys.readouterr().err == f"flowdsl: --only workers: {said}\n"
    assert run(["run", "pipeline.py", "--name", "four", "--only", "train", "--of", "two"]) == 0


STARTED = """
import os

from flowdsl import MPI, Volume, pipeline, step


@step(image="python:3.12-slim", cpu=0.1, distributed=MPI(workers=2, processes=2), env={"NOTE": "$(HOME)"})
def train(text: str) -> dict[str, str]:
    names = "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "NOTE"
    print("rank", os.environ["RANK"], flush=True)
    if text == "bad" and os.environ["RANK"] == "2":
        raise ValueError("the loss is NaN")
    return {**{name: os.environ[name] for name in names}, "text": text}


@pipeline(store=Volume("shared", mode="ReadWriteMany") / "runs")
def nightly(text: str = 'a; "b" $HOME') -> dict[str, str]:
    return train(text)
"""


def test_open_mpi_starts_the_processes(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    (folder / "pipeline.py").write_text(STARTED, encoding="utf-8")
    assert run(["run", "pipeline.py", "--json", "--name", "one"]) == 0
    found = json.loads(capsys.readouterr().out)["outputs"]["return"]
    here = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "4", "NODE_RANK": "0"}
    assert found == {**here, "NOTE": "$(HOME)", "text": 'a; "b" $HOME'}
    assert run(["logs", "one", "train"]) == 0
    said = capsys.readouterr().out
    assert sorted(re.findall(r"rank (\d)$", said, re.MULTILINE)) == ["0", "1", "2", "3"]
    assert run(["run", "pipeline.py", "-q", "-p", "text=bad", "--name", "two"]) == 1
    capsys.readouterr()
    assert run(["logs", "two", "train"]) == 0  # its last lines are mostly those of mpirun
    assert "ValueError: the loss is NaN\n" in capsys.readouterr().out


def test_results_can_be_given_instead(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "model").write_text("3.0 1.0\n", encoding="utf-8")
    given = ["--fake", "trained.error=0.001", "--fake", "trained.model=model"]
    assert run(["run", str(EXAMPLE), "-q", "--name", "one", *given]) == 0
    assert run(["logs", "one", "publish"]) == 0
    assert "published 3.0 1.0 with an error of 0.001" in capsys.readouterr().out
    assert run(["run", str(EXAMPLE), "-q", "--fake", "trained.error=0.001"]) == 2
    assert "the file `model` needs a path: --fake trained.model=PATH" in capsys.readouterr().err
