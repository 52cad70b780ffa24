"""A server beside the container of a step."""

from flowdsl import Sidecar, command, container, pipeline

NGINX = Sidecar("nginx", image="nginx:1.13", command=["nginx", "-g", "daemon off;"])
WAIT = "until `curl -G 'http://127.0.0.1/' >& /tmp/out`; do echo sleep && sleep 1; done && cat /tmp/out"


@container(image="curlimages/curl:latest", sidecars=[NGINX])
def ask() -> None:
    command("sh", "-c", WAIT)


@pipeline
def sidecar_nginx() -> None:
    ask()
