"""An async function as a step."""

import asyncio

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
async def download(url: str) -> int:
    await asyncio.sleep(1)
    return len(url)


@pipeline
def nightly() -> None:
    download("https://example.com")
