from flowdsl import step

for name in ("A", "B"):
    globals()[f"LIMIT_{name}"] = 3


@step(image="python:3.12-slim")
def train(n: int) -> int:
    return LIMIT_A
