"""Options that are None: not said by a decorator, and taken back from the step by a call."""

from pathlib import Path

from flowdsl import GPU, Mutex, Scratch, Secret, Volume, fan_out, manifest, pipeline, resource, step

DATA = Volume("datasets")
PYTHON = "python:3.12-slim"


@step(
    image=PYTHON,
    env={"LEVEL": "debug"},
    secrets={"TOKEN": Secret("hub", "token")},
    mounts={"/scratch": Scratch()},
    cpu=2,
    memory="8Gi",
    gpu=GPU(1, memory="40Gi"),
    node={"disk": "ssd"},
    where="zone in (eu-1, eu-2)",
    tolerations=["dedicated=ml:NoSchedule"],
    priority="high",
    retries=3,
    timeout="1h",
    queue_timeout="30m",
    locks=[Mutex("card")],
    labels={"team": "search"},
    argo={"metadata": {"annotations": {"example.com/owner": "search"}}},
    shm=None,
    spot=None,
)
def train(rate: float) -> Path:
    Path("model").write_text(str(rate), encoding="utf-8")
    return Path("model")


@step(image=PYTHON, retries=None, timeout=None, cache=None)
def report(model: Path) -> int:
    return model.stat().st_size


@step(image=PYTHON, cache=True)
def count(rate: float) -> int:
    return round(1 / rate)


@resource("apply", timeout="5m", success="status.phase == Ready")
def table() -> None:
    return manifest({"apiVersion": "example.com/v1", "kind": "Table", "metadata": {"name": "runs"}})


@pipeline(timeout=None, parallelism=4)
def part(rate: float) -> int:
    return report(train(rate))


@pipeline(store=DATA / "runs", timeout=None, ttl=None, schedule=None, name=None)
def nightly(rate: float = 0.1) -> None:
    model = train.options(
        env=None,
        secrets=None,
        mounts=None,
        cpu=None,
        memory=None,
        gpu=None,
        node=None,
        where=None,
        tolerations=None,
        priority=None,
        retries=None,
        timeout=None,
        queue_timeout=None,
        locks=None,
        labels=None,
        argo=None,
        store=None,
    )(rate)
    report.options(name=None, after=None)(model)
    report.options(name="short", timeout="5m", retries=None)(train.options(gpu=None)(rate))
    count.options(name="kept")(rate)
    count.options(name="anew", cache=None)(rate)
    table.options(timeout=None, success=None)()
    fan_out(part.options(parallelism=None, retries=None), over={"rate": [0.1, 0.2]})
