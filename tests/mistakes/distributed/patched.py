from flowdsl import MPI, Torch, Volume, command, container, pipeline, step


@step(image="python:3.12-slim", distributed=Torch(workers=2), argo={"container": {"tty": True}})
def another() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=Torch(workers=2), argo={"resource": {"action": "create"}})
def created() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=MPI(workers=2), argo={"script": {"command": ["bash"]}})
def started() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=Torch(workers=2), argo={"sidecars": [{"name": "a"}]})
def beside() -> None:
    print("training")


@container(image="horovod/horovod:0.28.1", distributed=MPI(workers=2), argo={"container": {"name": "main"}})
def named() -> None:
    return command("train")


@step(image="horovod/horovod:0.28.1", distributed=MPI(workers=2), mounts={"/root/.ssh": Volume("keys").ro})
def reached() -> None:
    print("training")


@pipeline
def nightly() -> None:
    another()
    created()
    started()
    beside()
    named()
    reached()
