from flowdsl import command, container, pipeline


@container(image="busybox:1.36")
def notify(rows: int) -> None:
    command("echo", rows)


@pipeline
def nightly() -> None:
    notify(3)
