"""The pipeline `skipped`."""

from flowdsl import command, container, pipeline, when


@container(image="busybox:1")
def say(m: str) -> None:
    command("echo", m)


@container(
    image="busybox:1",
    argo={
        "outputs": {
            "parameters": [{"name": "return", "valueFrom": {"default": "nothing"}}],
        },
    },
)
def make() -> str:
    return command("sh", "-c", "echo made > /tmp/text", paths={"return": "/tmp/text"})


@pipeline(
    argo={
        "templates": [
            {
                "name": "skipped",
                "dag": {
                    "tasks": [
                        {"name": "a", "when": "{{workflow.parameters.count}} == '3'"},
                        {"name": "e", "when": "'{{workflow.parameters.fast}}' == true"},
                        {
                            "name": "never",
                            "when": "false",
                            "hooks": {"exit": {"template": "end-hook"}},
                        },
                    ],
                },
            },
            {
                "name": "end-hook",
                "container": {"image": "busybox:1", "command": ["echo", "ended"]},
            },
        ],
    },
)
def skipped(count: int = 3, fast: str = "true") -> None:
    a = say(m="a")
    b = say(m="b")
    with when(fast == "yes"):
        c = say(m="c")
    with when((fast == "true") | (fast == "yes")):
        d = say(m="d")
    e = say(m="e")
    with when(fast == "true"):
        f = say(m="f")
    with when((count == 3) | (count == 4)):
        g = say(m="g")
    never = make()
    say.options(name="h", after=[a, b, c, d, e, f, g])(m=never)
