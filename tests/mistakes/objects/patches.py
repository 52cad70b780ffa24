from flowdsl import command, container, pipeline, step

WIDE = {"nodeSelektor": {"disk": "ssd"}}


@step(
    image="python:3.12-slim",
    cpu=1,
    argo={
        "hostAlias": [{"ip": "10.0.0.1"}],
        "name": "loader",
        "inputs": {"parameters": [{"name": "table", "value": "orders"}]},
        "outputs": None,
        "afinity": None,
        "script": {
            "source": "print(1)",
            "resources": {"limits": {"cpu": "2 cores"}},
            "env": [{"name": "FLOWDSL_table", "value": "orders"}],
        },
        "tolerations": [{"key": "spot"}, {"oper": "Exists"}],
        "container": {"image": "busybox", "command": ["true"]},
        "task": {"when": "true", "depends": "other", "hooks": {"exit": {"template": "nothing"}}},
    },
)
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim", argo=WIDE)
def clean(rows: int) -> int:
    return rows


@container(image="busybox:1.37.0", argo=dict(container=dict(args=["x"], tty="yes"), script=None))
def show(rows: int) -> None:
    command("echo", rows)


@pipeline(
    argo={
        "entrypoint": "load",
        "dnsPolicie": "ClusterFirst",
        "arguments": {"parameters": [{"name": "table", "value": "customers"}]},
        "metadata": {"name": "mine", "labels": {"team": "search and find", "flowdsl.dev/spec": "mine"}},
    }
)
def nightly(table: str = "orders") -> None:
    rows = load(table)
    show.options(argo={"pendingTimeout": 5})(clean(rows))
