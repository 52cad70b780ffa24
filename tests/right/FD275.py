from flowdsl import GPU, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1, mig="1g.5gb"))
def half(lr: float) -> None:
    print(lr)


@step(image="pytorch/pytorch:2.7.1", gpu=2)
def text(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    half(0.1)
    text(0.1)
