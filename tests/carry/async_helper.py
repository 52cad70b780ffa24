import asyncio

from flowdsl import step

ARGUMENTS = {}


async def fetched() -> int:
    await asyncio.sleep(0)
    return 1


@step(image="python:3.12-slim")
def train() -> int:
    return asyncio.run(fetched())
