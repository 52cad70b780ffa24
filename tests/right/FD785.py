from flowdsl import GPU, pipeline, step


@step(image="pytorch/pytorch:2.7.1", gpu=GPU(1), memory="32Gi", retries=3)
def fit(rate: float) -> float:
    return rate / 2


@pipeline
def main() -> float:
    first = fit(0.1)
    return fit.options(name="again")(first)
