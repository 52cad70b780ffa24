"""One training on several nodes without an operator: an Indexed Job, and a Service by which its workers meet.

The workers read the corpus from a shared volume, and the first one leaves the model there. When the run fails or is
stopped, the workers that still run are ended, and the logs of those that failed stay.
"""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, manifest, on_failure, pipeline, resource, run, step, when

PYTHON = "python:3.12-slim"
TORCH = "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime"
SHARED = Volume("shared")
PORT = 29500


class Trained(NamedTuple):
    succeeded: int
    finished: str


@step(image=PYTHON, mounts={"/shared": SHARED})
def prepare(lines: int) -> str:
    """Write the corpus to where each worker reads it."""
    corpus = Path("/shared/corpus.txt")
    corpus.write_text("".join(f"line {number}\n" for number in range(lines)), encoding="utf-8")
    return str(corpus)


@resource("apply", owner=True)
def rendezvous(name: str) -> None:
    """A name for each worker: NAME-0.NAME is the first one, also before it is ready."""
    manifest(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name},
            "spec": {
                "clusterIP": "None",
                "publishNotReadyAddresses": True,
                "selector": {"job-name": name},
                "ports": [{"port": PORT}],
            },
        }
    )


@resource("apply", owner=True, success="status.completionTime", failure="status.failed > 0", timeout="12h")
def train(name: str, master: str, corpus: str, workers: int, rate: float) -> Trained:
    """As many pods as there are workers, each with two cards; one that fails ends the training."""
    worker = {
        "name": "worker",
        "image": TORCH,
        "command": ["torchrun"],
        "args": [
            f"--nnodes={workers}",
            "--nproc-per-node=2",
            "--node-rank=$(JOB_COMPLETION_INDEX)",
            f"--master-addr={master}",
            f"--master-port={PORT}",
            "/shared/code/train.py",
            f"--corpus={corpus}",
            f"--rate={rate}",
            "--out=/shared/model.bin",
        ],
        "resources": {"limits": {"nvidia.com/gpu": 2}},
        "volumeMounts": [
            {"name": "shared", "mountPath": "/shared"},
            {"name": "shm", "mountPath": "/dev/shm"},
        ],
    }
    return manifest(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name},
            "spec": {
                "completionMode": "Indexed",
                "completions": workers,
                "parallelism": workers,
                "backoffLimit": 0,
                "template": {
                    "spec": {
                        "subdomain": name,
                        "restartPolicy": "Never",
                        "containers": [worker],
                        "volumes": [
                            {"name": "shared", "persistentVolumeClaim": {"claimName": "shared"}},
                            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
                        ],
                        "tolerations": [
                            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
                        ],
                    },
                },
            },
        },
        outputs={"succeeded": "{.status.succeeded}", "finished": "{.status.completionTime}"},
    )


@resource("patch")
def end(name: str) -> None:
    """End what runs: a suspended Job has no running pods, and keeps those that have ended, with their logs."""
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"suspend": True}})


@step(image=PYTHON, mounts={"/shared": SHARED})
def evaluate(finished: str) -> float:
    size = Path("/shared/model.bin").stat().st_size
    print(f"the model of {finished} has {size} bytes")
    return 1 - 1 / (1 + size)


@step(image=PYTHON)
def publish(accuracy: float) -> None:
    print(f"published with an accuracy of {accuracy}")


@pipeline(service_account="trainer")
def job(lines: int = 1000, workers: int = 4, rate: float = 0.1, least: float = 0.9) -> float:
    name = f"{run.name}-train"
    corpus = prepare(lines)
    service = rendezvous(name)
    trained = train.options(after=[service])(name, f"{name}-0.{name}", corpus, workers, rate)
    accuracy = evaluate(trained.finished)
    with when(accuracy >= least):
        publish(accuracy)
    with on_failure():
        end(name)
    return accuracy
