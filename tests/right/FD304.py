import asyncio

from flowdsl import pipeline, step


async def fetch(url: str) -> int:
    await asyncio.sleep(1)
    return len(url)


@step(image="python:3.12-slim")
def download(url: str) -> int:
    return asyncio.run(fetch(url))


@pipeline
def nightly() -> None:
    download("https://example.com")
