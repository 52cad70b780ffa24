from flowdsl import MPI, Volume, pipeline, step


@step(image="horovod/horovod:0.28.1", distributed=MPI(workers=2), packages=["rich==14.0.0"])
def train(rate: float) -> float:
    return rate


@step(image="horovod/horovod:0.28.1", distributed=MPI(workers=2, processes=0))
def tune(rate: float) -> float:
    return rate


@pipeline(store=Volume("shared", mode="ReadWriteMany") / "runs")
def nightly() -> float:
    return tune(train(0.5))
