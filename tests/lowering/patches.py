"""Fields of Argo put on top of what is written: of steps, of calls, of tasks, of the workflow."""

from flowdsl import command, container, fan_out, pipeline, step

HARDENED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


@step(
    image="python:3.12-slim",
    memory="1Gi",
    tolerations=["spot=true:NoSchedule"],
    argo={
        "script": {
            "securityContext": HARDENED,
            "resources": {"limits": {"cpu": "2"}},
            "env": [{"name": "LEVEL", "value": "debug"}],
            "volumeMounts": [{"name": "shared", "mountPath": "/dev/shm"}],
        },
        "volumes": [{"name": "shared", "emptyDir": {"medium": "Memory"}}],
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "outputs": {"parameters": [{"name": "return", "globalName": "rows"}]},
        "task": {"hooks": {"running": {"template": "note", "expression": "workflow.status == 'Running'"}}},
    },
)
def load(table: str) -> int:
    return len(table)


@container(image="busybox:1.37.0", cpu=1, memory="64Mi", argo=dict(container=dict(resources=None, tty=True)))
def show(rows: int) -> None:
    command("echo", rows)


@pipeline(
    parallelism=4,
    argo={
        "parallelism": None,
        "hostNetwork": True,
        "dnsPolicy": "ClusterFirstWithHostNet",
        "templates": [
            {"name": "note", "container": {"image": "busybox:1.37.0", "command": ["true"]}},
            {
                "name": "patches",
                "dag": {
                    "tasks": [
                        {
                            "name": "show",
                            "depends": "rows.Failed || rows.Succeeded",
                            "arguments": {"parameters": [{"name": "rows", "value": "{{=len('seven77')}}"}]},
                        }
                    ]
                },
            },
        ],
        "metadata": {"namespace": "pipelines", "finalizers": ["example.com/keep"]},
        "cron": {"when": "true"},
    },
)
def patches(table: str = "orders") -> None:
    rows = load(table)
    show(rows)
    show.options(name="shown-by-another", argo={"hostAliases": [{"ip": "10.0.0.1", "hostnames": ["db"]}]})(rows)
    show.options(name="shown-once-more", argo={"task": {"continueOn": None}})(rows)
    fan_out(load, over={"table": ["a", "b"]})
