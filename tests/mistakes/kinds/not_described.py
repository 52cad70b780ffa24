"""Steps that do not say what they do, or say it with the word of another kind."""

from flowdsl import command, http, manifest, pipeline, request, resource


@http()
def notify(text: str) -> None:
    f"https://chat.example.com/{text}"


@resource("apply")
def settings(name: str) -> None:
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


@resource("delete")
def drop(name: str) -> None:
    command("kubectl", "delete", "configmap", name)


@http()
def call(name: str) -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})


@http()
def lookup(name: str) -> str:
    return request("GET", "https://example.com/" + {"a": "b"}["c"])


@pipeline
def nightly(name: str = "settings") -> None:
    notify(name)
    settings(name)
    drop(name)
    call(name)
    lookup(name)
