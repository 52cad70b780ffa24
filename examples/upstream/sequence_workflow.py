"""Several containers of one pod, one after the other."""

from flowdsl import command, container, pipeline

SAY = {"image": "argoproj/argosay:v2"}
SEQUENCE = [
    {"name": "a", **SAY},
    {"name": "b", **SAY, "dependencies": ["a"]},
    {"name": "c", **SAY, "dependencies": ["b"]},
]


# Instead of the one container of a step.
@container(image="argoproj/argosay:v2", argo={"container": None, "containerSet": {"containers": SEQUENCE}})
def several() -> None:
    command("several")


@pipeline
def sequence_workflow() -> None:
    several()
