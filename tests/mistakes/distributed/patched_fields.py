"""Patches of the pods that an operator makes, with fields that pods do not have."""

from flowdsl import MPI, Torch, pipeline, step


@step(image="python:3.12-slim", distributed=Torch(2, operator="pytorchjob"), argo={"script": {"stdn": True}})
def follow() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=Torch(2, operator="jobset"), argo={"securityContext": {"runAsUsr": 3}})
def own() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=Torch(2, operator="trainjob"), argo={"script": {"hostUsers": True}})
def share() -> None:
    print("training")


@step(image="horovod/horovod:0.28.1", distributed=MPI(2), argo={"script": {"stdin": True}})
def launch() -> None:
    print("training")


@pipeline
def nightly() -> None:
    follow()
    own()
    share()
    launch()
