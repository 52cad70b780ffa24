from flowdsl import command, container, on_exit, pipeline, run


@container(image="busybox:1.36")
def tell(text: str) -> None:
    command("echo", text, f"status {run.status}", env={"FAILED": run.failures})


@pipeline
def nightly() -> None:
    tell("now")
    with on_exit():
        tell("at the end")
