from flowdsl import command, container, pipeline


@container(image="bash:5.2")
def count() -> None:
    command("bash", source="for run in {1..20000}; do date +%N; done")


@pipeline
def nightly() -> None:
    count()
