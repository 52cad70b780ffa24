"""HTTP connections to an Argo server, and the paths of its operations.

Of the package `argo-workflows` the connection settings, the connections made from them, and the paths of its operations
are used. Its model classes are not: they are those of Argo 3, and drop fields that were added later.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.cluster.kinds import CLUSTER_TEMPLATE, CRON, TEMPLATE, WORKFLOW
from flowdsl.runtime.cluster.transport import Access, Transport, Way, pool_of, unverified
from flowdsl.runtime.cluster.trouble import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.runtime.cluster.seam import Kind

SERVICES = {
    WORKFLOW: ("workflow_service_api", "WorkflowServiceApi", "workflows", "workflow"),
    TEMPLATE: (
        "workflow_template_service_api",
        "WorkflowTemplateServiceApi",
        "workflow_templates",
        "template",
    ),
    CLUSTER_TEMPLATE: (
        "cluster_workflow_template_service_api",
        "ClusterWorkflowTemplateServiceApi",
        "cluster_workflow_templates",
        "template",
    ),
    CRON: ("cron_workflow_service_api", "CronWorkflowServiceApi", "cron_workflows", "cronWorkflow"),
}
"""The kinds that a server knows: the module and class of their operations, their names in these, and in requests."""


class Server(NamedTuple):
    """The address of an Argo server, and the credentials for it."""

    url: str
    token: str = ""
    verify: bool = True
    namespace: str = "default"


def server_of(url: str, environment: Mapping[str, str] = os.environ, namespace: str | None = None) -> Server:
    """An Argo server as the argo command finds it: from a URL or HOST:PORT, and environment variables.

    They are ARGO_TOKEN, ARGO_SECURE, ARGO_INSECURE_SKIP_VERIFY, ARGO_BASE_HREF and ARGO_NAMESPACE. Raises
    Misconfigured. Source: cmd/argo/commands/client/conn.go.
    """
    if "://" not in url:
        url = f"{'http' if environment.get('ARGO_SECURE') == 'false' else 'https'}://{url}"
    wrong = f"{url} is not the address of an Argo server: one looks like https://argo.example.com:2746"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Misconfigured(wrong) from None
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or port == 0
        or len(parts.netloc.split()) > 1
    ):
        raise Misconfigured(wrong)
    base = (parts.path.strip("/") or environment.get("ARGO_BASE_HREF", "")).strip("/")
    token = environment.get("ARGO_TOKEN", "").strip()
    return Server(
        f"{parts.scheme}://{parts.netloc}" + (f"/{base}" if base else ""),
        f"Bearer {token}" if token and " " not in token else token,
        environment.get("ARGO_INSECURE_SKIP_VERIFY") != "true",
        namespace or environment.get("ARGO_NAMESPACE") or "default",
    )


class Connections(Transport):
    """Connections to one Argo server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        super().__init__(Access(namespace=server.namespace))

    def _load(self) -> Way:
        try:
            configuration_of: Any = import_module("argo_workflows.configuration")
            rest: Any = import_module("argo_workflows.rest")
        except ImportError:
            raise Misconfigured(
                "the way through an Argo server needs a package: pip install 'flowdsl[argo-server]'"
            ) from None
        server = self._server
        configuration = configuration_of.Configuration(host=server.url)
        configuration.verify_ssl = server.verify
        if server.token:
            configuration.api_key["BearerToken"] = server.token
        if not server.verify:
            unverified()
        pool = pool_of(rest, configuration)
        return Way(server.url, pool, configuration, "", server.namespace)


def words_of(kind: Kind) -> str:
    """The name of a kind in the names of operations: `workflow_templates`."""
    return SERVICES[kind][2]


def field_of(kind: Kind) -> str:
    """The field of a request that holds an object of a kind."""
    return SERVICES[kind][3]


def operation_path(kind: Kind, operation: str, **values: str) -> str:
    """The path of an operation, according to the package."""
    path: str = getattr(_service(kind), f"{operation}_endpoint").settings["endpoint_path"]
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return path


@cache
def _service(kind: Kind) -> Any:
    module, name, _, _ = SERVICES[kind]
    return getattr(import_module(f"argo_workflows.api.{module}"), name)(_Unused())


class _Unused:
    """A placeholder for a client of the package: its operations are inspected, never called."""

    configuration = None
