from flowdsl import GPU, Torch, pipeline, step

PYTHON = "python:3.12-slim"


@step(image=PYTHON)
def anywhere() -> None:
    print("as the pipeline says")


@step(image=PYTHON, gpu=1)
def train() -> None:
    print("where the pipeline says, and on nodes with GPUs")


@step(image=PYTHON, gpu=1, tolerations=["team=b"], node={"disk": "nvme"})
def own() -> None:
    print("as the step says")


@step(image=PYTHON, gpu=GPU(1, product=["A100", "H100"]), placement="pack")
def chosen() -> None:
    print("on such nodes with these cards")


@step(image=PYTHON, gpu=GPU(1, memory="40Gi"), where="zone in (eu-1)")
def elsewhere() -> None:
    print("where the step says")


@step(image=PYTHON, distributed=Torch(workers=2), gpu=GPU(1))
def together() -> None:
    print("the pods of a Job")


ODD = {"key": "rack", "operator": "In", "values": ["1", "3"]}
EVEN = {"key": "rack", "operator": "In", "values": ["2", "4"]}


@pipeline(
    argo={
        "tolerations": [{"key": "team", "operator": "Exists"}],
        "nodeSelector": {"disk": "ssd", "rack": "1"},
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [ODD]}, {"matchExpressions": [EVEN]}]
                },
            }
        },
    }
)
def patched_places() -> None:
    anywhere()
    train()
    own()
    chosen()
    elsewhere()
    together()
