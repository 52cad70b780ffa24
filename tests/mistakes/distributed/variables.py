from flowdsl import Secret, Torch, pipeline, step


@step(
    image="python:3.12-slim",
    distributed=Torch(workers=4),
    env={"NCCL_DEBUG": "INFO", "MASTER_PORT": 29500},
    secrets={"RANK": Secret("cluster", "rank")},
)
def train() -> None:
    print("training")


@pipeline
def nightly() -> None:
    train()
