"""The pipelines `main`, `reviews`.

Compile `main` with `flowdsl compile FILE:main --as template`.
Compile `reviews` with `flowdsl compile FILE:reviews`.
"""

from flowdsl import command, container, pipeline


@container(image="busybox:1.37.0")
def clean(text: str, stage: str, least: int = 3) -> str:
    source = """
        echo "$TEXT $LEAST $STAGE"
    """
    return command(
        "sh",
        source=source,
        env={"TEXT": text, "LEAST": least, "STAGE": stage},
        stdout=True,
    )


@container(image="busybox:1.37.0")
def notify(message: str) -> None:
    command("echo", message)


@container(image="busybox:1.37.0")
def report(title: str = "weekly") -> None:
    command("echo", title)


@pipeline(name="report")
def main(title: str = "weekly") -> None:
    report(title=title)


@pipeline
def reviews(stage: str = "test") -> None:
    clean_ = clean(text="a b", stage=stage)
    tell = notify(message=clean_)
    report.options(name="elsewhere", after=[tell])()
