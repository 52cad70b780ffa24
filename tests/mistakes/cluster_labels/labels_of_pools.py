"""GPUs on nodes that, by their labels, have none of that kind; parts of GPUs that are larger than any GPU allows."""

from flowdsl import GPU, pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE, gpu=1, pool="cpu")
def tokenize(rate: float) -> float:
    return rate


@step(image=IMAGE, gpu=8, node={"pool": "gpu-old"})
def train(rate: float) -> float:
    return rate


@step(image=IMAGE, gpu=1, where="gpu.product == A100-40GB", pool="gpu-old")
def tune(rate: float) -> float:
    return rate


@step(image=IMAGE, gpu=GPU(1, memory="40Gi"), where="(pool == gpu-old and gpu.product) or disk == sata")
def judge(rate: float) -> float:
    return rate


@step(image=IMAGE, gpu=GPU(1, share="24Gi"))
def serve(rate: float) -> float:
    return rate


@step(image=IMAGE, gpu=GPU(1, share="48Gi", vendor="amd"))
def serve_whole(rate: float) -> float:
    return rate


@step(image=IMAGE, gpu=1, where="(pool == gpu-old and gpu.product == V100-16GB) or gpu.memory > 64Gi")
def fits(rate: float) -> float:
    return rate


@step(image=IMAGE, gpu=16, where="zone == a and pool == elsewhere")
def unlisted(rate: float) -> float:
    return rate


@pipeline
def nightly() -> None:
    rate = serve(judge(tune(train(tokenize(0.1)))))
    fits(rate)
    unlisted(rate)
    serve_whole(rate)
