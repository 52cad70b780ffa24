"""A file in Artifactory, of which flowdsl knows nothing: the store is put into the template."""

from pathlib import Path

from flowdsl import command, container, pipeline

LOGIN = "my-artifactory-credentials"
STORE = {
    "artifactory": {
        "url": "http://artifactory:8081/artifactory/generic-local/hello_world.tgz",
        "usernameSecret": {"name": LOGIN, "key": "username"},
        "passwordSecret": {"name": LOGIN, "key": "password"},
    }
}


@container(image="busybox", argo={"outputs": {"artifacts": [{"name": "return", **STORE}]}})
def hello_world_to_file() -> Path:
    script = "echo hello world | tee /tmp/hello_world.txt"
    return command("sh", "-c", script, paths={"return": "/tmp/hello_world.txt"})


@container(image="busybox")
def print_message_from_file(message: Path) -> None:
    command("sh", "-c", "cat /tmp/message", paths={"message": "/tmp/message"})


@pipeline
def artifactory_artifact() -> None:
    print_message_from_file(hello_world_to_file())
