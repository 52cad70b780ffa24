"""Options that mean nothing on steps of a kind, or on one call."""

from flowdsl import Ready, approve, call_template, command, container, http, manifest, pipeline, request, resource


@approve(image="alpine:3.20", timeout="24h")
def look() -> None: ...


@http(gpu=1, retries=2, packages=["numpy==2.1"])
def ping() -> None:
    request("GET", "https://example.com")


@resource("apply", mounts={}, where="not spot")
def settings() -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}})


@call_template("library", "train", memory="4Gi")
def train() -> None: ...


@container(image="postgres:16", success="status.ready == 1", ready=Ready(port=5432))
def database() -> str:
    return command("postgres")


@container(image="postgres:16", daemon=True)
def server() -> str:
    return command("postgres")


@pipeline
def nightly() -> None:
    ping.options(cpu=2)()
    server.options(daemon=False)()
