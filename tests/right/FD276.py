from flowdsl import GPU, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, vendor="nvidia"))
def vendor(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    vendor(0.1)
