"""The pipeline `quotes`."""

from flowdsl import command, container, either, pipeline, when


@container(image="busybox:1.37.0")
def find() -> str:
    source = """
        echo found
    """
    return command("sh", source=source, stdout=True)


@container(image="busybox:1.37.0")
def say(text: str) -> None:
    command("echo", text)


@pipeline
def quotes(stage: str = "raw") -> None:
    with when(stage == "raw"):
        find_ = find()
    say.options(name="single")(text=f'{either(find_, "none")} "of" {stage}')
    say.options(name="both")(
        text="{}/{{{}".format(either(find_, 'it\'s "none"'), stage),
    )
