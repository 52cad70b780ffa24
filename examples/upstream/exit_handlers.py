"""What is done at the end of a run, and what only if it failed."""

from flowdsl import command, container, on_exit, pipeline, run, unless, when

# How the run ended is known only at its end; the template says so itself.
MAIL = (
    "echo send e-mail: {{workflow.name}} {{workflow.status}} {{workflow.duration}}."
    " Failed steps {{workflow.failures}}"
)


@container(image="alpine:3.23")
def intentional_fail() -> None:
    command("sh", "-c", "echo intentional failure; exit 1")


@container(image="alpine:3.23", argo={"container": {"args": ["-c", MAIL]}})
def send_email() -> None:
    command("sh")


@container(image="alpine:3.23")
def celebrate() -> None:
    command("sh", "-c", "echo hooray!")


@container(image="alpine:3.23")
def cry() -> None:
    command("sh", "-c", "echo boohoo!")


@pipeline
def exit_handlers() -> None:
    intentional_fail()
    with on_exit():
        send_email()
        with when(run.status == "Succeeded"):
            celebrate()
        with unless(run.status == "Succeeded"):
            cry()
