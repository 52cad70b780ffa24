"""A limit that a parameter of the run sets."""

from flowdsl import command, container, pipeline

LIMIT = (
    '{"containers":[{"name":"main", "resources":{"limits":{"cpu": "{{workflow.parameters.cpu_limit}}" }}}]}'
)


@container(image="busybox", argo={"podSpecPatch": LIMIT})
def hello_world() -> None:
    command("echo", "hello world")


@pipeline
def pod_spec_patch(cpu_limit: str = "100m") -> None:
    hello_world()
