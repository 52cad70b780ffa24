"""A secret that is written into the pipeline."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", env={"HF_TOKEN": "hf_4Rzs8yXbQ2", "EOS_TOKEN": "<|endoftext|>"})
def download(model: str) -> int:
    return len(model)


@pipeline
def nightly() -> None:
    download("llama")
