from flowdsl import step


@step(image="python:3.12-slim")
async def train(n: int) -> int:
    return n
