"""The pipeline `nightly`."""

from flowdsl import (
    Config,
    InitContainer,
    Mutex,
    Scratch,
    Secret,
    Sidecar,
    Volume,
    command,
    container,
    pipeline,
    run,
)

DATA = Volume("datasets")
SCRATCH = Scratch("2Gi")


@container(
    image="registry.example.com/importer:2",
    workdir="/work",
    image_pull_policy="Always",
    env={"LEVEL": Config("settings", "level")},
    secrets={"TOKEN": Secret("hub", "token")},
    mounts={"/data": DATA.ro / "raw", "/work": SCRATCH},
    init=[InitContainer("ready", image="busybox:1.37.0", command=["sh", "-c", "true"])],
    sidecars=[
        Sidecar("cache", image="redis:7", command=["redis-server"], memory="64Mi"),
    ],
    locks=[Mutex("nightly")],
    service_account="importer",
    labels={"cost-center": "17"},
    argo={
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["db"]}],
        "container": {
            "securityContext": {"runAsUser": 1000},
            "env": [
                {
                    "name": "NODE",
                    "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}},
                },
            ],
            "volumeMounts": [{"name": "cloud", "mountPath": "/cloud"}],
        },
    },
)
def import_() -> None:
    command("importer", "--run", run.name, env={"RUN": f"nightly-{run.name}"})


@pipeline(
    schedule="0 3 * * *",
    timezone="Europe/Berlin",
    concurrency="Forbid",
    keep_failed=3,
    image_pull_secrets="registry",
    pod_gc="OnPodSuccess",
    argo={
        "dnsPolicy": "ClusterFirst",
        "volumes": [
            {"name": "cloud", "nfs": {"server": "nfs.example.com", "path": "/"}},
        ],
        "metadata": {"namespace": "search"},
        "cron": {"stopStrategy": {"expression": "cronworkflow.failed >= 3"}},
    },
)
def nightly() -> None:
    import_()
