"""The pipeline `rest`."""

from flowdsl import command, container, pipeline, run


@container(
    image="busybox:1.37.0",
    argo={
        "archiveLocation": {"archiveLogs": True},
        "script": {
            "env": [
                {"name": "POD_NAME", "value": "{{pod.name}}"},
                {"name": "WORKFLOW_UID", "value": "{{workflow.uid}}"},
            ],
        },
    },
)
def pod(left: str = "it's") -> None:
    source = """
        # where it runs
        echo $POD_NAME "$WORKFLOW_UID"' of '"$WORKFLOW_NAME" "$LEFT"
        cat <<EOF
        $LEFT
        EOF
    """
    command("sh", "-e", source=source, env={"WORKFLOW_NAME": run.name, "LEFT": left})


@container(
    image="replaced-below:latest",
    argo={
        "container": {
            "image": "{{inputs.parameters.image}}:{{inputs.parameters.tag}}",
            "args": ["{{inputs.parameters.image}} in {{pod.name}}"],
        },
    },
)
def image(image: str, tag: str) -> None:
    command("echo")


@container(
    image="registry.example.com/tools/own:2",
    argo={"container": {"command": None}},
)
def own() -> None:
    command("own", "--all")


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "containerSet": {
            "containers": [
                {"name": "one", "image": "busybox:1.37.0", "command": ["true"]},
                {
                    "name": "main",
                    "image": "busybox:1.37.0",
                    "command": ["true"],
                    "dependencies": ["one"],
                },
            ],
        },
    },
)
def several() -> None:
    command("true")


@container(
    image="busybox:1.37.0",
    argo={
        "inputs": {
            "parameters": [
                {
                    "name": "text",
                    "valueFrom": {
                        "configMapKeyRef": {"name": "texts", "key": "hello"},
                        "default": "hello",
                    },
                },
            ],
        },
        "container": {"args": ["{{inputs.parameters.text}}"]},
    },
)
def asked() -> None:
    command("echo")


@container(image="busybox:1.37.0")
def code(code: str) -> None:
    command("sh", "-c", 'eval "$CODE"', env={"CODE": code})


@pipeline(
    argo={
        "arguments": {
            "parameters": [
                {
                    "name": "level",
                    "valueFrom": {
                        "configMapKeyRef": {"name": "settings", "key": "level"},
                        "default": "info",
                    },
                },
            ],
        },
        "templates": [
            {
                "name": "rest",
                "dag": {
                    "tasks": [
                        {
                            "name": "pod-name",
                            "hooks": {
                                "running": {
                                    "expression": "tasks['pod-name'].status == 'Running'",
                                    "template": "note",
                                },
                            },
                        },
                        {"name": "whichever", "depends": "pod-name || other"},
                    ],
                    "failFast": False,
                },
            },
            {
                "name": "note",
                "container": {
                    "image": "busybox:1.37.0",
                    "command": ["echo", "{{workflow.name}}"],
                },
            },
        ],
        "metadata": {"namespace": "search"},
    },
)
def rest(level: str) -> None:
    pod.options(name="pod-name")()
    image.options(name="other")(image="busybox", tag="1.37.0")
    own.options(name="whichever")()
    several()
    asked()
    code(code=f"echo 'code' && echo {level}")
