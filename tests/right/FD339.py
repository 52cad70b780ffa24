from flowdsl import command, container, pipeline


@container(image="alpine:3.20")
def repeat(name: str, times: int) -> None:
    command("sh", "-c", 'for i in $(seq "$TIMES"); do echo "$NAME"; done', env={"NAME": name, "TIMES": times})


@pipeline
def nightly(name: str = "world") -> None:
    repeat(name, 3)
