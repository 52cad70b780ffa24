"""The pipeline `mounts`."""

from flowdsl import NewVolume, Volume, command, container, pipeline

WORK = NewVolume("work", "1Gi")
INBOX = Volume("data")


@container(
    image="busybox:1.37.0",
    mounts={"/work": WORK},
    argo={
        "container": {
            "volumeMounts": [
                {
                    "name": "inbox",
                    "mountPath": "/data",
                    "subPath": "runs/{{workflow.name}}",
                },
                {"name": "logs", "mountPath": "/logs", "subPath": "{{workflow.name}}"},
            ],
        },
    },
)
def write() -> None:
    command("echo", "written")


@container(image="busybox:1.37.0", mounts={"/work": WORK.ro, "/data": INBOX.ro / "in"})
def read() -> None:
    command("echo", "read")


@container(
    image="busybox:1.37.0",
    argo={
        "volumes": [{"name": "shared", "emptyDir": {}}],
        "container": None,
        "containerSet": {
            "volumeMounts": [{"name": "shared", "mountPath": "/shared"}],
            "containers": [
                {
                    "name": "first",
                    "image": "busybox:1.37.0",
                    "command": ["echo", "first"],
                },
                {
                    "name": "main",
                    "image": "busybox:1.37.0",
                    "command": ["echo", "second"],
                    "dependencies": ["first"],
                },
            ],
        },
    },
)
def both() -> None:
    command("true")


@pipeline(
    argo={
        "volumeClaimGC": {"strategy": "OnWorkflowSuccess"},
        "volumes": [
            {"name": "inbox", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "logs", "persistentVolumeClaim": {"claimName": "logs"}},
        ],
    },
)
def mounts() -> None:
    write_ = write()
    read_ = read.options(after=[write_])()
    both.options(after=[read_])()
