"""Small manifests for the tests of the stand-in."""

from __future__ import annotations

from typing import Any

from tests.cluster.node import Json
from tests.cluster.run import Run


def script(
    name: str, source: str, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = (), **more: Any
) -> Json:
    """A template whose inputs are variables, and whose outputs are written to files of their names."""
    env = [{"name": one, "value": f"{{{{inputs.parameters.{one}}}}}"} for one in inputs]
    return {
        "name": name,
        "inputs": {"parameters": [{"name": one} for one in inputs]},
        "outputs": {
            "parameters": [{"name": one, "valueFrom": {"path": f"/tmp/flowdsl/{one}"}} for one in outputs]
        },
        "script": {"image": "a:1", "command": ["python3"], "env": env, "source": source},
        **more,
    }


WRITE = "import os, pathlib\npathlib.Path('/tmp/flowdsl/v').write_text({})\n"
ECHO = "import os\nprint(ascii(os.environ['v']), end='')\n"


def task(name: str, template: str, after: str = "", **values: Any) -> Json:
    """A task; what is no field of a task is an argument."""
    known = ("when", "withItems", "withParam", "continueOn")
    fields: Json = {key: values.pop(key) for key in known if key in values}
    artifacts = values.pop("artifacts", None)
    arguments: Json = {"parameters": [{"name": key, "value": value} for key, value in values.items()]}
    if artifacts is not None:
        arguments["artifacts"] = artifacts
    if after:
        fields["depends"] = after
    return {"name": name, "template": template, "arguments": arguments, **fields}


def dag(*tasks: Json, name: str = "main", inputs: tuple[str, ...] = (), outputs: Json | None = None) -> Json:
    """A template of tasks; the outputs are given as the `valueFrom` of each."""
    return {
        "name": name,
        "inputs": {"parameters": [{"name": one} for one in inputs]},
        "outputs": {
            "parameters": [{"name": key, "valueFrom": value} for key, value in (outputs or {}).items()]
        },
        "dag": {"tasks": list(tasks)},
    }


def workflow(*templates: Json, **arguments: str) -> Json:
    """A Workflow that enters `main`, with the volume `data` of the claim `claim`."""
    parameters = [{"name": name, "value": value} for name, value in arguments.items()]
    claims = [{"name": "data", "persistentVolumeClaim": {"claimName": "claim"}}]
    spec = {
        "entrypoint": "main",
        "arguments": {"parameters": parameters},
        "volumes": claims,
        "templates": list(templates),
    }
    return {"metadata": {"generateName": "wf-"}, "spec": spec}


def phases(run: Run) -> dict[str, str]:
    """How each task ended, by its name without that of the run; the run itself is the empty name."""
    return {name.partition(".")[2]: node.phase for name, node in run.nodes.items()}


def log(run: Run, task: str) -> str:
    """What a task printed."""
    return run.nodes[f"{run.entry.name}.{task}"].log
