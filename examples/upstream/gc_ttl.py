"""How long a run that has ended is kept."""

from flowdsl import command, container, pipeline


@container(image="busybox")
def hello_world() -> None:
    command("echo", "hello world")


@pipeline(ttl={"success": 5, "failure": 5}, argo={"ttlStrategy": {"secondsAfterCompletion": 10}})
def gc_ttl() -> None:
    hello_world()
