from flowdsl import TensorFlow, Volume, pipeline, step


@step(image="tensorflow/tensorflow:2.16.1", distributed=TensorFlow(workers=4, ps=2))
def train(rate: float) -> float:
    return rate


@step(image="tensorflow/tensorflow:2.16.1", distributed=TensorFlow(workers=4, ps=2, operator="jobset"))
def tune(rate: float) -> float:
    return rate


@step(image="tensorflow/tensorflow:2.16.1", distributed=TensorFlow(workers=4, operator="pytorchjob"))
def evaluate(rate: float) -> float:
    return rate


@pipeline(store=Volume("shared", mode="ReadWriteMany") / "runs")
def nightly() -> float:
    return evaluate(tune(train(0.5)))
