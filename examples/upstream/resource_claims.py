"""A device by a claim of Kubernetes' dynamic resource allocation."""

from flowdsl import command, container, pipeline

CLAIM = {"name": "accelerator", "resourceClaimTemplateName": "example-device-claim-template"}


@container(image="busybox", argo={"container": {"resources": {"claims": [{"name": "accelerator"}]}}})
def show_devices() -> None:
    command("sh", "-c", "echo using the allocated device")


@pipeline(argo={"resourceClaims": [CLAIM]})
def resource_claims() -> None:
    show_devices()
