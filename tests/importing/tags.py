"""The pipeline `tags`."""

from flowdsl import approve, command, container, fan_out, pipeline, run, when


@container(
    image="busybox:1.37.0",
    argo={
        "timeout": "{{inputs.parameters.secs}}s",
        "retryStrategy": {"limit": "{{inputs.parameters.tries}}"},
        "nodeSelector": {"pool": "{{inputs.parameters.pool}}"},
        "podSpecPatch": '{"containers":[{"name":"main","resources":{"limits":{"memory":"{{inputs.parameters.mem}}"}}}]}',
        "container": {
            "image": "{{inputs.parameters.image}}",
            "env": [{"name": "B", "value": "$(A)-b"}],
        },
    },
)
def sized(mem: str, secs: int, tries: int, pool: str, image: str) -> str:
    return command(
        "sh",
        "-c",
        'echo "it is $MEM"',
        env={"A": f"a-{mem}", "MEM": mem},
        stdout=True,
    )


@container(
    image="busybox:1.37.0",
    argo={
        "initContainers": [
            {
                "name": "prepare",
                "image": "{{inputs.parameters.img}}",
                "command": ["echo", "{{inputs.parameters.x}}"],
            },
        ],
        "sidecars": [
            {
                "name": "side",
                "image": "busybox:1.37.0",
                "command": ["sleep", "1"],
                "env": [{"name": "X", "value": "{{inputs.parameters.x}}"}],
            },
        ],
    },
)
def cont(img: str, x: str) -> None:
    command("echo", f"{x} {img}")


@container(image="busybox:1.37.0")
def say(m: str) -> None:
    command("echo", m)


@container(image="busybox:1.37.0")
def deflt(m: str, k: int = 5) -> None:
    command("echo", m, k)


@approve(argo={"suspend": {"duration": "{{inputs.parameters.s}}"}})
def wait(s: int) -> None:
    raise NotImplementedError


@pipeline
def tags(
    mem: str = "64Mi",
    image: str = "busybox:1.37.0",
    pool: str = "cpu",
    tries: int = 2,
    secs: int = 30,
    count: int = 2,
) -> None:
    a = sized(mem=mem, secs=secs, tries=tries, pool=pool, image=image)
    cont.options(name="b")(img=image, x=f"e-{run.name}")
    fan_out(say.options(name="c"), over={"m": [f"{count}", f"b-{pool}"]})
    e = deflt(m=f"d-{pool}")
    deflt.options(name="f", after=[e])(m="given")
    wait.options(name="g")(s=1)
    with when(count > 1):
        fan_out(say.options(name="h"), over={"m": [f"x-{a}", f"true-{a}"]})
