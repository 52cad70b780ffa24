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


@step(image=PYTHON, distributed=Torch(workers=2), gpu=GPU(1))
def together() -> None:
    print("the pods of a Job")


@pipeline(argo={"tolerations": [{"key": "team", "operator": "Exists"}], "nodeSelector": {"disk": "ssd"}})
def patched_places() -> None:
    anywhere()
    train()
    own()
    together()
