"""A file that is stored in another bucket than the run's, where the step says."""

from pathlib import Path

from flowdsl import command, container, pipeline

STORE = {
    "s3": {
        "endpoint": "s3.amazonaws.com",
        "bucket": "my-bucket",
        "region": "us-west-2",
        "key": "path/in/bucket/hello_world.txt.tgz",
        "accessKeySecret": {"name": "my-s3-credentials", "key": "accessKey"},
        "secretKeySecret": {"name": "my-s3-credentials", "key": "secretKey"},
    }
}


@container(image="busybox", argo={"outputs": {"artifacts": [{"name": "return", **STORE}]}})
def hello_world_to_file() -> Path:
    return command("sh", "-c", "echo hello world | tee /tmp/hello_world.txt", paths={"return": "/tmp"})


@pipeline
def output_artifact_s3() -> None:
    hello_world_to_file()
