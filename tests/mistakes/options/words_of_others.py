"""Options in the words of other tools, where others stand, and given as arguments."""

from flowdsl import Retry, fan_out, maximize, pipeline, step, sweep


@step(image="python:3.12-slim", retries=3, retry_delay="5m", max_retry_delay="1h", trigger_rule="all_done", cache_expiration="1d")
def load(n: int) -> int:
    return n


@step(image="python:3.12-slim", schedule="@daily", execution_timeout="1h", env_vars={"A": "b"})
def train(n: int) -> int:
    return n


@pipeline(gpu=1, schedule_interval="@daily", catchup=False, namespace="search", log_prints=True)
def part(n: int) -> int:
    return load(n, retries=2)


@pipeline
def nightly() -> None:
    fan_out(load, over={"n": [1]}, max_parallel=4)
    sweep(load, over={"n": [2]}, objective=maximize(), n_trials=4, timeout="1h")
    part.options(gpu=1)(1, retries=3)
    load.options(name="others", num_cpus=4, cache_version="2", spot_instances=True, on_failure=train)(4)
    load.options(retries=Retry(3, delay="5m"))(3)
