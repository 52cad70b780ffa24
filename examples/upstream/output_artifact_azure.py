"""A file that is stored in Azure, where the step says."""

from pathlib import Path

from flowdsl import command, container, pipeline

STORE = {
    "azure": {
        "endpoint": "https://myazurestorageaccountname.blob.core.windows.net",
        "container": "my-container",
        "blob": "path/in/container/hello_world.txt.tgz",
        "accountKeySecret": {"name": "my-azure-credentials", "key": "accountKey"},
    }
}


@container(image="busybox", argo={"outputs": {"artifacts": [{"name": "return", **STORE}]}})
def hello_world_to_file() -> Path:
    return command("sh", "-c", "echo hello world | tee /tmp/hello_world.txt", paths={"return": "/tmp"})


@pipeline
def output_artifact_azure() -> None:
    hello_world_to_file()
