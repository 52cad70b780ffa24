from flowdsl import step


@step(image="python:3.12-slim")
def net(layers: int, dropout: float = 0.0, kind: str = "relu") -> float:
    return layers * dropout + len(kind)
