"""The pipeline `mounts`."""

from flowdsl import NewVolume, Scratch, Volume, command, container, pipeline

WORK = NewVolume("work", "1Gi")
INBOX = Volume("data")
FAST = Scratch("64Mi", memory=True)
LOGS = Volume("logs")
CACHE = Scratch()


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


@container(
    image="busybox:1.37.0",
    mounts={"/work": WORK.ro, "/data": INBOX.ro / "in", "/fast": FAST},
)
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
def both() -> str:
    return command("true", stdout=True)


@container(image="busybox:1.37.0")
def told(text: str) -> None:
    command("echo", f"it said {text}")


@container(
    image="busybox:1.37.0",
    mounts={"/logs": LOGS, "/cache": CACHE},
    argo={
        "initContainers": [
            {
                "name": "copy",
                "image": "busybox:1.37.0",
                "command": ["sh", "-c", "echo tool > /tools/tool"],
                "securityContext": {"runAsUser": 0},
                "volumeMounts": [
                    {"name": "tools", "mountPath": "/tools"},
                    {"name": "logs", "mountPath": "/logs"},
                ],
            },
        ],
        "volumes": [{"name": "tools", "emptyDir": {}}],
        "container": {"volumeMounts": [{"name": "tools", "mountPath": "/tools"}]},
    },
)
def prepared() -> None:
    command("cat", "/tools/tool")


@container(
    image="busybox:1.37.0",
    argo={
        "initContainers": [
            {
                "name": "fetch",
                "image": "busybox:1.37.0",
                "command": ["sh", "-c", "echo model > /model/model"],
                "volumeMounts": [{"name": "model", "mountPath": "/model"}],
            },
        ],
        "sidecars": [
            {
                "name": "watch",
                "image": "busybox:1.37.0",
                "command": ["sleep", "1"],
                "volumeMounts": [
                    {"name": "model", "mountPath": "/model", "readOnly": True},
                ],
            },
        ],
        "volumes": [{"name": "model", "emptyDir": {}}],
        "container": {
            "volumeMounts": [
                {"name": "model", "mountPath": "/model", "mountPropagation": "None"},
            ],
        },
    },
)
def served() -> None:
    command("cat", "/model/model")


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
    both_ = both.options(after=[read_])()
    told_ = told(text=both_)
    prepared_ = prepared.options(after=[told_])()
    served.options(after=[prepared_])()
