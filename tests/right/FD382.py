from flowdsl import Torch, Volume, pipeline, step

DATASETS = Volume("datasets", mode="ReadWriteOnce")


@step(
    image="python:3.12-slim",
    distributed=Torch(workers=4),
    mounts={"/data": DATASETS.ro},
    node={"kubernetes.io/hostname": "node-7"},
)
def train() -> None:
    print("training")


@pipeline
def nightly() -> None:
    train()
