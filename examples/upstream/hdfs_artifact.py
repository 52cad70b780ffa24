"""A file in HDFS, of which flowdsl knows nothing: the store is put into the template."""

from pathlib import Path

from flowdsl import command, container, pipeline

NODE = "my-hdfs-namenode-{}.my-hdfs-namenode.default.svc.cluster.local:8020"
STORE = {
    "hdfs": {
        "addresses": [NODE.format(0), NODE.format(1)],
        "path": "/tmp/argo/foo",
        "hdfsUser": "root",
        "force": True,
    }
}


@container(image="busybox", argo={"outputs": {"artifacts": [{"name": "return", **STORE}]}})
def hello_world_to_file() -> Path:
    script = "echo hello world | tee /tmp/hello_world.txt"
    return command("sh", "-c", script, paths={"return": "/tmp/hello_world.txt"})


@container(image="alpine:3.23")
def print_message_from_hdfs(message: Path) -> None:
    command("sh", "-c", "cat /tmp/message", paths={"message": "/tmp/message"})


@pipeline
def hdfs_artifact() -> None:
    print_message_from_hdfs(hello_world_to_file())
