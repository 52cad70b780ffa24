from flowdsl import TensorFlow, Volume, pipeline, step


@step(image="tensorflow/tensorflow:2.16.1", distributed=TensorFlow(workers=4, ps=2, operator="tfjob"))
def train(rate: float) -> float:
    return rate


@pipeline(store=Volume("shared", mode="ReadWriteMany") / "runs")
def nightly() -> float:
    return train(0.5)
