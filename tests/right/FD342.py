from flowdsl import Secret, pipeline, step


@step(
    image="python:3.12-slim",
    env={"EOS_TOKEN": "<|endoftext|>"},
    secrets={"HF_TOKEN": Secret("huggingface", "token")},
)
def download(model: str) -> int:
    return len(model)


@pipeline
def nightly() -> None:
    download("llama")
