from flowdsl import command, container, on_exit, pipeline, run


@container(image="busybox:1.36")
def tell(status: str) -> None:
    command("echo", f"status {status}")


@pipeline
def nightly() -> None:
    tell.options(name="start")("Running")
    with on_exit():
        tell(run.status)
