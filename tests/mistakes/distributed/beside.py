from flowdsl import InitContainer, Retry, Sidecar, Torch, Volume, pipeline, step

SHARED = Volume("shared", mode="ReadWriteMany")


@step(
    image="python:3.12-slim",
    distributed=Torch(workers=4),
    init=[InitContainer("fetch", image="alpine:3.22", command=["true"])],
    sidecars=[Sidecar("cache", image="redis:8", command=["redis-server"])],
    queue_timeout="2h",
    retries=Retry(2, elsewhere=True),
    cache=True,
    store=SHARED / "runs",
)
def train() -> float:
    return 0.9


@pipeline
def nightly() -> None:
    train()
