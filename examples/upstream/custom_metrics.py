"""Metrics of the run and of its steps for Prometheus, and a result that the whole run knows by a name."""

from typing import Any

from flowdsl import command, container, pipeline


def duration(name: str, value: str = "{{duration}}") -> dict[str, Any]:
    """How long it took so far, by the name of what it is about."""
    return {
        "name": "duration_gauge",
        "labels": [{"key": "name", "value": name}],
        "help": "Duration gauge by name",
        "gauge": {"realtime": True, "value": value},
    }


BUCKETS = [2.01, 4.01, 6.01, 8.01, 10.01]
RANDOM_INT = {
    "name": "random_int_step_histogram",
    "help": "Value of the int emitted by random-int at step level",
    "when": "{{status}} == Succeeded",
    "histogram": {"buckets": BUCKETS, "value": "{{outputs.parameters.return}}"},
}
RESULT = {
    "name": "result_counter",
    "help": "Count of step execution by result status",
    "labels": [{"key": "name", "value": "flakey"}, {"key": "status", "value": "{{status}}"}],
    "counter": {"value": "1"},
}
NAMED = {"parameters": [{"name": "return", "globalName": "rand-int-value"}]}


@container(
    image="busybox",
    argo={"metrics": {"prometheus": [RANDOM_INT, duration("random-int")]}, "outputs": NAMED},
)
def random_int() -> int:
    script = "RAND_INT=$((1 + RANDOM % 10)); echo $RAND_INT; echo $RAND_INT > /tmp/rand_int.txt"
    return command("sh", "-c", script, paths={"return": "/tmp/rand_int.txt"})


@container(image="python:alpine3.23", argo={"metrics": {"prometheus": [RESULT]}})
def flakey() -> None:
    script = "import random; import sys; exit_code = random.choice([0, 1, 1]); sys.exit(exit_code)"
    command("python", "-c", script)


@pipeline(
    argo={
        "metrics": {"prometheus": [duration("workflow", "{{workflow.duration}}")]},
        "templates": [{"name": "custom-metrics", "metrics": {"prometheus": [duration("steps")]}}],
    }
)
def custom_metrics() -> None:
    number = random_int()
    flakey.options(after=[number])()
