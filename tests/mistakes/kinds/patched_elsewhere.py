"""A patch of a template that stands in the cluster."""

from flowdsl import call_template, pipeline


@call_template("library", "train", argo={"securityContext": {"runAsUser": 7}, "task": {"onExit": "tidy"}})
def train(rate: float) -> None: ...


@pipeline(argo={"templates": [{"name": "tidy", "container": {"image": "busybox:1.37.0", "command": ["true"]}}]})
def nightly() -> None:
    train(0.1)
    train.options(name="again", argo={"nodeSelector": {"disk": "ssd"}})(0.2)
