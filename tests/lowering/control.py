"""Retries, times and locks, of steps, of calls, and of pipelines in pipelines."""

from flowdsl import Mutex, Retry, Semaphore, fan_out, pipeline, run, step

IMAGE = "python:3.12-slim"


@step(
    image=IMAGE,
    retries=Retry(
        3,
        policy="OnError",
        wait="30s",
        factor=2,
        longest="10m",
        within="2h",
        exit_codes=[137, 143],
        messages=["node shutdown", "it's gone"],
        elsewhere=True,
    ),
    timeout="6h",
    queue_timeout="2h",
    locks=[Mutex(f"gpu-{run.name}"), Mutex(run.name), Semaphore("limits", "training", namespace="ml")],
)
def train(size: int) -> int:
    return size


@step(image=IMAGE, retries=Retry(2, expression="asInt(retries) < 2 && lastRetry.status == 'Error'"))
def score(size: int) -> int:
    return size + 1


@pipeline(locks=[Mutex("inner", namespace="ml")], parallelism=2, ttl=60)
def part(size: int) -> int:
    return score.options(retries=Retry(1, wait=10, messages=["{"]))(train(size))


@pipeline(locks=[Semaphore("limits", "runs")], parallelism=8)
def control(size: int = 1) -> int:
    first = part(size)
    second = part.options(retries=1, parallelism=3, locks=[])(first)
    many = fan_out(part.options(retries=Retry(2, wait="1m")), over={"size": [1, 2]})
    return score(second + many[0])
