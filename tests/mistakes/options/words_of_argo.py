"""The words of Argo and of other tools for what an option says, or something else."""

from flowdsl import pipeline, step


@step(base_image="python:3.12", nodeSelector={"a": "b"}, resources={"limits": {}}, retry_strategy=3, env_from="x")
def load(table: str) -> str:
    return table


@step(image="python:3.12-slim", args=["a"], outputs=["x"], volumes=[1], sharedMemory="8Gi", init_containers=1)
def train(table: str) -> None:
    print(table)


@step(image="python:3.12-slim", num_workers=4)
def tune() -> None:
    print("tuning")


@pipeline(on_exit=load, cron="* * * * *", generateName="a-", ttlStrategy={})
def nightly() -> None:
    orders = load("orders")
    train.options(depends="orders && users", when="x", with_items=[1], continue_on=1)(orders)
    tune()
