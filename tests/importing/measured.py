"""The pipeline `measured`."""

from typing import NamedTuple

from flowdsl import command, container, pipeline


@container(
    image="busybox:1.37",
    argo={
        "metrics": {
            "prometheus": [
                {
                    "name": "losses",
                    "help": "Losses",
                    "labels": [
                        {
                            "key": "all",
                            "value": "{{=outputs.parameters.return + status}}",
                        },
                    ],
                    "counter": {"value": "1"},
                },
            ],
        },
    },
)
def train() -> str:
    return command("sh", "-c", "echo 1 > /tmp/losses", paths={"return": "/tmp/losses"})


class ScoreOutputs(NamedTuple):
    best_loss: str
    worst_loss: str


@container(
    image="busybox:1.37",
    argo={
        "metrics": {
            "prometheus": [
                {
                    "name": "score",
                    "help": "Score",
                    "labels": [
                        {
                            "key": "of",
                            "value": "{{inputs.parameters.loss_of_all}} {{outputs.parameters.worst_loss}}",
                        },
                    ],
                    "gauge": {
                        "value": "{{outputs.parameters.best_loss}}",
                        "realtime": False,
                    },
                },
            ],
        },
    },
)
def score(loss_of_all: str) -> ScoreOutputs:
    return command(
        "sh",
        "-c",
        "echo $LOSS_OF_ALL | tee /tmp/best > /tmp/worst",
        env={"LOSS_OF_ALL": loss_of_all},
        paths={"best_loss": "/tmp/best", "worst_loss": "/tmp/worst"},
    )


@pipeline(
    argo={
        "templates": [
            {
                "name": "measured",
                "metrics": {
                    "prometheus": [
                        {
                            "name": "found",
                            "help": "The best loss",
                            "gauge": {
                                "value": "{{outputs.parameters.return}}",
                                "realtime": False,
                            },
                        },
                    ],
                },
            },
        ],
    },
)
def measured() -> str:
    train_ = train()
    score_ = score(loss_of_all=train_)
    return score_.best_loss
