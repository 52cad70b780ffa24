from flowdsl import step

ARGUMENTS = {"n": 3}


@step(image="python:3.12-slim")
def train(n: int, /) -> str:
    match n:
        case 1:
            return "one"
        case _ if (m := n) > 2:
            return f"many {m}"
    return "two"
