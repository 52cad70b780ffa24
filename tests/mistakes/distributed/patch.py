from flowdsl import Torch, pipeline, step


@step(
    image="python:3.12-slim",
    distributed=Torch(workers=4),
    argo={"podSpecPatch": "hostNetwork: true", "script": {"securityContext": {"privileged": True}}},
)
def train() -> None:
    print("training")


@pipeline
def nightly() -> None:
    train()
