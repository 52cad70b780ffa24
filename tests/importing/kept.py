"""The pipelines `limits`, `variables`, `retries`, `items`, `retried`."""

from flowdsl import Retry, command, container, fan_out, pipeline

MAIN_ARGS = """\
echo "$(MODELS)/x"
echo "$(date -d @0 +%Y) $$(MODELS)"
"""


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
    argo={"container": {"args": ["-c", MAIN_ARGS]}},
)
def main() -> None:
    command("sh")


@pipeline
def variables() -> None:
    main()


@container(image="busybox:1.37.0", retries=1)
def fail(item: int = 0) -> None:
    command("false")


@container(image="busybox:1.37.0", retries=2)
def fail_once() -> None:
    command("false")


@pipeline(
    argo={
        "templateDefaults": {"timeout": "60s"},
        "templates": [
            {"name": "retries", "retryStrategy": {"limit": 1, "retryPolicy": "Always"}},
        ],
    },
)
def retries() -> None:
    fan_out(fail.options(name="each"), over={"item": range(2)})
    fail_once.options(name="once")()


@container(image="busybox:1.37.0")
def print_(item: str) -> None:
    command("echo", item)


@pipeline
def items() -> None:
    fan_out(print_.options(name="each"), over={"item": ['{"a":1,"b":"é"}', "ü"]})


@container(image="busybox:1.37.0", retries=Retry(3, policy="OnFailure"))
def fail_thrice() -> None:
    command("false")


@pipeline
def retried() -> None:
    fail_thrice()
