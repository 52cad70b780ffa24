from flowdsl import Torch, Volume, pipeline, step

DATASETS = Volume("datasets", mode="ReadWriteOnce")
MODELS = Volume("models", mode="ReadWriteOnce")
STATES = Volume("states", mode="ReadWriteOncePod")


@step(image="python:3.12-slim", distributed=Torch(workers=4), mounts={"/data": DATASETS.ro, "/models": MODELS})
def train() -> None:
    print("training")


@step(image="python:3.12-slim", distributed=Torch(workers=2), store=DATASETS / "runs")
def tune() -> float:
    return 0.5


@step(image="python:3.12-slim", distributed=Torch(workers=2), mounts={"/states": STATES.ro})
def resume() -> None:
    print("training")


@step(
    image="python:3.12-slim",
    distributed=Torch(workers=2),
    mounts={"/models": MODELS},
    node={"kubernetes.io/hostname": "node-7"},
)
def bound() -> None:
    print("training")


@pipeline
def nightly() -> None:
    trained = train()
    tune()
    resume()
    bound.options(after=[trained])()
