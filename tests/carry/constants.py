from flowdsl import step

ARGUMENTS = {"n": 2}
UNUSED = 1
X = 3
X += 1
NAMES = ["a"]
NAMES.append("b")
WEIGHTS: dict[str, float] = {"a": 1.0}
WEIGHTS["b"] = 2
LOW, (HIGH, *REST) = 1, (2, 3, 4)
TABLE = {
    "first": 1,  # a comment inside
    "second": X * 2,
}
SQUARES = [n * n for n in range(X)]
norm = lambda value: value / X
squared = [(last := number) for number in SQUARES]


@step(image="python:3.12-slim")
def train(n: int) -> list[float]:
    return [X, len(NAMES), WEIGHTS["b"], LOW, HIGH, REST[0], TABLE["second"], sum(SQUARES), norm(n), squared[0]]
