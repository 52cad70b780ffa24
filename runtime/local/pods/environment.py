"""The environment variables of a container: from its image, its manifest, and Argo.

As in a cluster, a step sees nothing of the user's shell: no credentials leak into it, and it does not depend on the
laptop. Kept are where programs are found (PATH, with the folder of the steps' Python first) and how the network is
reached (proxies and certificates). HOME is `/root`, an empty folder of each pod; the time zone is UTC.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.labels import COMPLETED, NODE_ID, NODE_NAME, RUN
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.quantity import quantity
from flowdsl.runtime.local.pods.amounts import machine
from flowdsl.runtime.local.pods.expansion import expanded
from flowdsl.runtime.local.pods.refusal import Refusal
from flowdsl.runtime.local.pods.settings import GIVE_CONFIG_MAP, GIVE_SECRET, Settings
from flowdsl.runtime.parts import part, several

if TYPE_CHECKING:
    from flowdsl.runtime.local.controller.events import StartPod

Json = dict[str, Any]
_NETWORK = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_USUAL = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


class About(NamedTuple):
    """The data about its pod that a container may read."""

    start: StartPod
    account: str
    settings: Settings

    def labels(self) -> dict[str, str]:
        """Those of the run and of the template, and Argo's own."""
        return {
            RUN: self.settings.workflow,
            COMPLETED: "false",
            **self.settings.labels,
            **part(part(self.start.template, "metadata"), "labels"),
        }

    def annotations(self) -> dict[str, str]:
        """Those of the template, and Argo's own."""
        own = {NODE_ID: self.start.node, NODE_NAME: self.start.name}
        return {**own, **part(part(self.start.template, "metadata"), "annotations")}


def base(settings: Settings, shims: Path) -> dict[str, str]:
    """The variables that an image would set."""
    own = [one for one in os.environ.get("PATH", "").split(":") if one.startswith("/")]
    folders = [str(Path(settings.python).parent), str(shims), *own, *_USUAL]
    found = {"PATH": ":".join(dict.fromkeys(folders)), "HOME": "/root", "LANG": "C.UTF-8", "TZ": "UTC"}
    for name in (*_NETWORK, *map(str.upper, _NETWORK), *_CERTIFICATES):
        if name in os.environ:
            found[name] = os.environ[name]
    return found


def variables(container: Json, about: About) -> dict[str, str]:
    """The variables that a manifest gives to a container, in order; each can refer to those before it. Raises Refusal.

    Source: makeEnvironmentVariables of the kubelet.
    """
    found: dict[str, str] = {}
    for source in several(container, "envFrom"):
        for key, value in _all_of(source, about, container).items():
            found[source.get("prefix", "") + key] = value
    for one in several(container, "env"):
        if "valueFrom" in one:
            given = _value(one["valueFrom"], container, about)
            if given is not None:
                found[one["name"]] = given
        else:
            found[one["name"]] = expanded(str(one.get("value", "")), found)
    return found


def argo(name: str, about: About, includes: bool) -> dict[str, str]:
    """The variables that Argo adds. Source: build in workflow/controller/workflowpod.go of Argo 4.1."""
    return {
        "ARGO_CONTAINER_NAME": name,
        "ARGO_NODE_ID": about.start.node,
        "ARGO_INCLUDE_SCRIPT_OUTPUT": "true" if includes else "false",
        "ARGO_DEADLINE": "0001-01-01T00:00:00Z",
        "ARGO_WORKFLOW_NAME": about.settings.workflow,
        "ARGO_PROGRESS_FILE": "/var/run/argo/progress",
        "ARGO_PROGRESS_PATCH_TICK_DURATION": "1m0s",
        "ARGO_PROGRESS_FILE_TICK_DURATION": "3s",
    }


def _all_of(source: Json, about: About, container: Json) -> Mapping[str, str]:
    kind = "configMapRef" if "configMapRef" in source else "secretRef"
    reference = source[kind]
    data = _data(kind, about.settings).get(reference["name"])
    if data is None and not reference.get("optional"):
        raise missing(kind, reference["name"], None, about.settings, container["name"])
    return data or {}


def _data(kind: str, settings: Settings) -> Mapping[str, Mapping[str, str]]:
    return settings.config_maps if kind.startswith("configMap") else settings.secrets


def missing(kind: str, name: str, key: str | None, settings: Settings, container: str) -> Refusal:
    """The message of Kubernetes about a missing ConfigMap or Secret, or a missing key of one."""
    config = kind.startswith("configMap")
    way = (GIVE_CONFIG_MAP if config else GIVE_SECRET).format(name=name)
    if key is None:
        text = f'{"configmap" if config else "secret"} "{name}" not found'
    else:
        text = f"couldn't find key {key} in {'ConfigMap' if config else 'Secret'} {settings.namespace}/{name}"
    return Refusal(
        f"Pod failed before {container} container starts due to CreateContainerConfigError: {text}; {way}"
    )


def keyed(kind: str, reference: Json, settings: Settings, container: str) -> str | None:
    """The value of a key of a ConfigMap or Secret; none if it is missing and optional. Raises Refusal."""
    data = _data(kind, settings).get(reference["name"])
    if data is not None and reference["key"] in data:
        return data[reference["key"]]
    if reference.get("optional"):
        return None
    raise missing(kind, reference["name"], None if data is None else reference["key"], settings, container)


def _value(source: Json, container: Json, about: About) -> str | None:
    for kind in ("configMapKeyRef", "secretKeyRef"):
        if kind in source:
            return keyed(kind, source[kind], about.settings, container["name"])
    if "fieldRef" in source:
        return field(source["fieldRef"]["fieldPath"], about)
    if "resourceFieldRef" in source:
        return resource(source["resourceFieldRef"], container, about.settings)
    raise Refusal(
        f"a variable of container {container['name']} has a source that is not known: {', '.join(source)}"
    )


def field(path: str, about: About) -> str:
    """The value of a pod field in the downward API. Raises Refusal."""
    settings = about.settings
    plain = {
        "metadata.name": about.start.pod,
        "metadata.namespace": settings.namespace,
        "metadata.uid": settings.uid,
        "spec.nodeName": "localhost",
        "spec.serviceAccountName": about.account,
        "status.hostIP": "127.0.0.1",
        "status.hostIPs": "127.0.0.1",
        "status.podIP": "127.0.0.1",
        "status.podIPs": "127.0.0.1",
    }
    if path in plain:
        return plain[path]
    for name, known in (("metadata.labels", about.labels), ("metadata.annotations", about.annotations)):
        if path == name:
            return "\n".join(f"{key}={_quoted(value)}" for key, value in sorted(known().items()))
        if path.startswith(f"{name}['") and path.endswith("']"):
            return known().get(path[len(name) + 2 : -2], "")
    raise Refusal(f"field label not supported: {path}")


def _totals(settings: Settings) -> dict[str, float]:
    cpu, memory = machine(settings.cpu, settings.memory)
    return {"cpu": cpu, "memory": memory}


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def resource(reference: Json, container: Json, settings: Settings) -> str:
    """The value of a request or limit in the downward API; without one, that of the machine. Raises Refusal."""
    what = str(reference["resource"])
    kind, _, name = what.partition(".")
    resources = part(container, "resources")
    text = resources.get(kind, {}).get(name)
    if text is None and kind == "requests":
        text = part(resources, "limits").get(name)
    if text is None and kind == "limits":
        text = _totals(settings).get(name)
    if kind not in ("requests", "limits"):
        raise Refusal(f"unsupported container resource {what}")
    divisor = quantity(str(reference.get("divisor", "1"))) or quantity("1")
    return str(math.ceil(quantity(str(text or 0)) / divisor))
