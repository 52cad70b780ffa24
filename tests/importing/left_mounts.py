"""The pipeline `left_mounts`.

Compile it with `flowdsl compile FILE --as template`.
"""

from flowdsl import command, container, pipeline


@container(
    image="alpine:3.20",
    argo={
        "container": {
            "volumeMounts": [
                {"name": "work", "mountPath": "/work"},
                {"name": "cache", "mountPath": "/tmp"},
            ],
        },
    },
)
def fetch() -> None:
    command("sh", "-c", "echo here > /work/file")


@container(
    image="alpine:3.20",
    argo={"container": {"volumeMounts": [{"name": "work", "mountPath": "/work"}]}},
)
def run_(target: str) -> None:
    command("make", target)


@pipeline(
    argo={
        "volumes": [{"name": "cache", "persistentVolumeClaim": {"claimName": "cache"}}],
        "volumeClaimTemplates": [
            {
                "metadata": {"name": "work"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            },
        ],
    },
)
def left_mounts() -> None:
    fetch_ = fetch()
    run_.options(name="lint", after=[fetch_])(target="lint")
    run_.options(name="test", after=[fetch_])(target="test")
