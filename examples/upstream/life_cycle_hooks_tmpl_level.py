"""Requests that are sent when tasks begin to run, and when they have succeeded."""

from typing import Any

from flowdsl import command, container, pipeline

NOTE = {
    "name": "note",
    "http": {
        "url": "https://raw.githubusercontent.com/argoproj/argo-workflows"
        "/4e450e250168e6b4d51a126b784e90b11a0162bc/pkg/apis/workflow/v1alpha1/generated.swagger.json"
    },
}


def hooks(task: str) -> dict[str, Any]:
    """The hooks of a task: a template, and the condition for it."""
    return {
        "running": {"template": "note", "expression": f"tasks['{task}'].status == 'Running'"},
        "success": {"template": "note", "expression": f"tasks['{task}'].status == 'Succeeded'"},
    }


@container(image="alpine:3.23")
def echo() -> None:
    command("sh", "-c", 'echo "it was heads"')


@pipeline(argo={"templates": [NOTE]})
def life_cycle_hooks() -> None:
    first = echo.options(name="step1", argo={"task": {"hooks": hooks("step1")}})()
    echo.options(name="step2", after=[first], argo={"task": {"hooks": hooks("step2")}})()
