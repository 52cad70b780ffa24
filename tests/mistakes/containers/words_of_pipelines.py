"""Words of pipelines where a step says what it runs."""

from flowdsl import command, container, either, output, pipeline, when


@container(image="ghcr.io/acme/infer:4")
def infer(model: str, size: int | None = None) -> float:
    return command("/bin/infer", "--model", model, "--size", either(size, 224), "--score", output())


@container(image="ghcr.io/acme/infer:4")
def score(model: str, size: int) -> float:
    with when(size > 224):
        return command("/bin/infer", "--large", "--score", output())
    return command("/bin/infer", "--score", output())


@pipeline
def nightly() -> None:
    infer("resnet")
    score("resnet", 224)
