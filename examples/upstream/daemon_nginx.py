"""A server that goes on while the steps after it run, and its address."""

from flowdsl import Ready, command, container, pipeline

# The server is what the image runs by itself, so the command is taken away.
SERVE = {"container": {"command": None, "args": None}}
ASK = "curl --silent -G http://{{inputs.parameters.server_ip}}:80/"


@container(image="nginx:1.13", daemon=True, ready=Ready(port=80, path="/", delay="2s"), argo=SERVE)
def nginx_server() -> str:
    return command("nginx")


# The address goes into a text for the shell, which `command` would refuse for any value of the run.
@container(image="curlimages/curl:latest", argo={"container": {"args": ["-c", f"echo {ASK} && {ASK}"]}})
def nginx_client(server_ip: str) -> None:
    command("/bin/sh", server_ip)


@pipeline
def daemon_nginx() -> None:
    nginx_client(nginx_server())
