RATE = 0.1


def steps():
    import flowdsl
    from flowdsl import step as task

    @task(image="python:3.12-slim")
    def prepare() -> int:
        return 3

    @flowdsl.step(image="python:3.12-slim")
    def train(layers: int) -> float:
        return RATE * layers

    return prepare, train


prepare, train = steps()
