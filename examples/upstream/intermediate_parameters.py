"""A person decides between two answers before the second deployment."""

from typing import Literal, NamedTuple

from flowdsl import approve, command, container, pipeline, when


class Answer(NamedTuple):
    approve: Literal["YES", "NO"] = "NO"


@approve()
def approval() -> Answer:
    """Choose YES to continue workflow and deploy to production."""
    raise NotImplementedError


@container(image="argoproj/argosay:v2")
def deploy() -> None:
    command("/argosay", "echo", "deploying")


@pipeline
def intermediate_parameters() -> None:
    tested = deploy.options(name="deploy-pre-prod")()
    answer = approval.options(after=[tested])()
    with when(answer.approve == "YES"):
        deploy.options(name="deploy-prod")()
