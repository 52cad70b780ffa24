"""Two requests without a pod; that one of them fails does not fail the run."""

from flowdsl import http, pipeline, request

ARGO = "https://raw.githubusercontent.com/argoproj/argo-workflows"
FILE = "pkg/apis/workflow/v1alpha1/generated.swagger.json"


@http()
def fetch(url: str) -> str:
    return request("GET", url)


@pipeline
def http_hello_world() -> None:
    fetch.options(name="good")(f"{ARGO}/4e450e250168e6b4d51a126b784e90b11a0162bc/{FILE}")
    fetch.options(name="bad", argo={"task": {"continueOn": {"failed": True}}})(
        f"{ARGO}/thisisnotahash/{FILE}"
    )
