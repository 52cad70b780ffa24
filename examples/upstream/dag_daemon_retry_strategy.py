"""A server that is started again if it does not come up, and six clients of which one at a time may ask it."""

from flowdsl import Ready, command, container, pipeline

TRIES = {"retryStrategy": {"limit": "6"}}
ONE = {"synchronization": {"mutexes": [{"name": "client-{{workflow.uid}}"}]}}
ASK = "curl --silent -G http://{{inputs.parameters.server_ip}}:80/"


# flowdsl does not try a daemon again, since its address changes; Argo does before the daemon is ready.
@container(image="nginx:1.13", daemon=True, ready=Ready(port=80, path="/", delay="2s"), argo=TRIES)
def server() -> str:
    return command("nginx", "-g", "daemon off;")


# The address goes into a text for the shell, which `command` would refuse for any value of the run.
@container(
    image="curlimages/curl:latest", argo={"container": {"args": ["-c", f"echo {ASK} && {ASK}"]}, **ONE}
)
def client(server_ip: str) -> None:
    command("/bin/sh", server_ip)


@pipeline
def dag_daemon_retry() -> None:
    address = server()
    for number in range(6):
        client.options(name=f"client-{number}")(address)
