from flowdsl import GPU, Torch, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(2), distributed=Torch(workers=4, processes=2))
def train(rate: float) -> None:
    print(rate)


@pipeline
def nightly() -> None:
    train(0.1)
