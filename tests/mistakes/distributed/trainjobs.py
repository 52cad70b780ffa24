from flowdsl import Torch, pipeline, step

PODS = Torch(workers=2, operator="trainjob")


@step(image="python:3.12-slim", distributed=PODS, argo={"retryStrategy": {"limit": 2}})
def again() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=PODS, argo={"metrics": {"prometheus": []}})
def measured() -> None:
    print("training")


@step(
    image="python:3.12-slim",
    distributed=PODS,
    argo={"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "team-a"}}},
)
def queued() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=Torch(workers=2), argo={"retryStrategy": {"limit": 2}})
def fine() -> None:
    print("training")


@pipeline
def nightly() -> None:
    again()
    measured()
    queued()
    fine()
