from flowdsl import call_template, pipeline


@call_template("library", "train", argo={"task": {"onExit": "tidy"}})
def train(rate: float) -> None: ...


@pipeline(
    argo={"templates": [{"name": "tidy", "container": {"image": "busybox:1.37.0", "command": ["true"]}}]}
)
def nightly() -> None:
    train(0.1)
    train.options(name="again")(0.2)
