"""Steps are called from pools of threads."""

from concurrent.futures import ThreadPoolExecutor

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> None:
    print(table)


@pipeline
def nightly() -> None:
    with ThreadPoolExecutor() as pool:
        pool.submit(lambda: load("orders")).result()
    with ThreadPoolExecutor() as pool:
        pool.map(load, ["orders", "users"])
