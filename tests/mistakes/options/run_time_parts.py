"""Values of the run inside of options, in which all is fixed while compiling; only a Mutex may be named by a run."""

from flowdsl import (
    GPU,
    Cache,
    Config,
    Git,
    Host,
    Mutex,
    NewVolume,
    Retry,
    Secret,
    Semaphore,
    Sidecar,
    Torch,
    Volume,
    pipeline,
    run,
    step,
)

DATA = Volume("data")


@step(image="python:3.12-slim", locks=[Mutex(run.name)], tolerations=[run.name])
def train(rows: int) -> int:
    return rows


@pipeline(timeout=run.name, schedule=[run.name], checkpoints=DATA / run.name)
def main(of: str = "a", rows: int = 1) -> None:
    train.options(code=Git(f"https://example.org/{of}", revision="v1.2"))(rows)
    train.options(code=Git("https://example.org/a", revision=f"v{of}"), checkpoints=DATA / of)(rows)
    train.options(mounts={f"/data/{of}": DATA, "/host": Host(of), "/new": NewVolume(of, "1Gi"), "/more": NewVolume("more", f"{rows}Gi")})(rows)
    train.options(env={of: "a"}, secrets={"TOKEN": Secret("hub", of)}, shm=f"{of}Gi")(rows)
    train.options(locks=[Mutex(of), Mutex("a", namespace=of), Semaphore(run.name, "k")])(rows)
    train.options(retries=Retry(3, policy=of, wait=f"{of}s"), gpu=GPU(1, product=[of]))(rows)
    train.options(node={f"pool/{of}": "a"}, packages=of, cache=Cache(salt=of), argo={"timeout": of})(rows)
    train.options(sidecars=[Sidecar("log", image=f"log:{of}", command=["run", of], env={"A": of})])(rows)
    train.options(distributed=Torch(workers=rows), mounts={"/settings": Config("a", key=of)}, cache=of)(rows)
