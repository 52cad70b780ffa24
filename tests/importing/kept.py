"""The pipelines `limits`, `variables`."""

from flowdsl import command, container, fan_out, pipeline


@container(image="busybox:1.37.0")
def say(item: int = 0) -> None:
    command("echo", "hello")


@pipeline
def inner() -> None:
    each = fan_out(say, over={"item": range(2)}, parallel=2)
    fan_out(
        say.options(name="again", after=[each]),
        over={"item": range(2)},
        parallel=2,
    )


@pipeline(argo={"templates": [{"name": "limits", "parallelism": 1}]})
def limits() -> None:
    say.options(name="a")()
    inner.options(name="b")()


@container(
    image="busybox:1.37.0",
    env={"MODELS": "/models"},
    argo={
        "container": {
            "args": ["-c", 'echo "$(MODELS)/x"\necho "$(date -d @0 +%Y) $$(MODELS)"\n'],
        },
    },
)
def main() -> None:
    command("sh")


@pipeline
def variables() -> None:
    main()
