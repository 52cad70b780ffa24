from flowdsl import GPU, MPI, Retry, Torch, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(2), distributed=Torch(workers=4, processes=3))
def train(rate: float) -> None:
    print(rate)


@step(image="horovod/horovod:0.28.1", gpu=1, distributed=MPI(workers=4, processes=2))
def tune(rate: float) -> None:
    print(rate)


@step(image="pytorch/pytorch:2.7.1", distributed=Torch(workers=4), retries=Retry(2, exit_codes=[137]))
def fit(rate: float) -> None:
    print(rate)


@pipeline
def nightly() -> None:
    train(0.1)
    tune(0.2)
    fit(0.3)
