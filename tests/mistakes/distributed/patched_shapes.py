"""Patches of steps on several pods that have another form than their fields."""

from flowdsl import Torch, pipeline, step


@step(image="python:3.12-slim", distributed=Torch(workers=2), argo={"timeout": "5 minutes"})
def wait() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=Torch(workers=2), argo={"volumes": 3, "metadata": {"labels": 4}})
def mount() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=Torch(workers=2), argo={"script": 5})
def run() -> None:
    print("training")


@pipeline(argo={"activeDeadlineSeconds": "soon", "podMetadata": {"annotations": 6}})
def nightly() -> None:
    wait()
    mount()
    run()
