from flowdsl import command, container, output, pipeline


@container(image="ghcr.io/acme/infer:4")
def infer(text: str) -> str:
    return command("/bin/infer", "--text", text, "--out", output())


@pipeline
def nightly() -> None:
    infer("an example")
