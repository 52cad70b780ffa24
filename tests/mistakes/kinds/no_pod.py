"""What is about a pod, of steps that have none."""

from flowdsl import Retry, approve, http, pipeline, request


@http(retries=Retry(2, elsewhere=True), argo={"nodeSelector": {"zone": "eu-1"}})
def announce(text: str) -> None:
    return request("POST", "https://example.com/runs", body=text)


@approve(argo={"tolerations": [{"operator": "Exists"}]})
def release() -> None: ...


@pipeline
def nightly(text: str = "done") -> None:
    release()
    announce(text)
