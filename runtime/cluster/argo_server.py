"""Access through an Argo server, for users who have a token for it and none for the Kubernetes API.

Source of the requests: pkg/apiclient/workflow/workflow.proto and server/workflow of Argo 4.1. What is used of the
package `argo-workflows`, and why no more, is described in `argo_transport.py`.
"""

from __future__ import annotations

import json
import time
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from flowdsl.runtime.cluster import gates, verbs
from flowdsl.runtime.cluster.argo_transport import (
    SERVICES,
    Connections,
    Server,
    field_of,
    operation_path,
    words_of,
)
from flowdsl.runtime.cluster.kinds import VERSION, WORKFLOW
from flowdsl.runtime.cluster.kubernetes import Action, Kubernetes, lines, selectors
from flowdsl.runtime.cluster.retrying import retried
from flowdsl.runtime.cluster.seam import Change, Listing, whole
from flowdsl.runtime.cluster.trouble import (
    CONFLICT,
    EXPIRED,
    FORBIDDEN,
    NOT_FOUND,
    UNAUTHORIZED,
    Refusal,
    Unsupported,
)
from flowdsl.runtime.parts import part
from flowdsl.runtime.phases import SUCCEEDED, over
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from flowdsl.runtime.cluster.policy import Policy
    from flowdsl.runtime.cluster.seam import Excerpt, Json, Keep, Kind, Verb
    from flowdsl.runtime.cluster.transport import Answer

_REASONS = {
    3: (400, "Invalid"),
    5: (NOT_FOUND, "NotFound"),
    6: (CONFLICT, "AlreadyExists"),
    7: (FORBIDDEN, "Forbidden"),
    8: (429, "TooManyRequests"),
    16: (UNAUTHORIZED, "Unauthorized"),
}
"""Codes of gRPC with their HTTP codes and Kubernetes reasons. Source: server/utils/errors.go."""
_OPTIONS = {
    "labelSelector": "listOptions.labelSelector",
    "fieldSelector": "listOptions.fieldSelector",
}


class ArgoServer(Kubernetes):
    """A `Cluster` behind an Argo server; see `flowdsl.runtime.cluster.seam.Cluster`.

    It serves workflows and templates, and actions on runs. It does not serve pods, nodes or other objects.
    """

    speaker = "the Argo server"

    def __init__(self, server: Server, policy: Policy | None = None) -> None:
        super().__init__(Connections(server), policy)
        self.called = f"Argo server at {server.url}"
        self._way_in = (
            "ARGO_TOKEN is none of its tokens, or has expired" if server.token else "set ARGO_TOKEN"
        )

    # --- reading -------------------------------------------------------------------------------------------

    def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json:
        """One object, with its nodes: the server decompresses them, or reads them from a database."""
        return _whole(kind, super().get(kind, name, namespace=namespace))

    def list(
        self,
        kind: Kind,
        *,
        labels: str = "",
        fields: str = "",
        namespace: str | None = None,
        keep: Keep = whole,
    ) -> Listing:
        """The objects that match selectors. Archived workflows are among them; each is listed once."""
        action = self._action("list", kind, "", namespace)
        found = self._call("GET", action, query=selectors(labels, fields))
        items = {
            str(one["metadata"].get("uid")): _whole(kind, one) for one in reversed(found.get("items") or ())
        }
        version = part(found, "metadata").get("resourceVersion")
        return Listing([keep(one) for one in reversed(items.values())], str(version or ""))

    def watch(
        self,
        kind: Kind,
        version: str,
        *,
        seconds: float,
        labels: str = "",
        fields: str = "",
        namespace: str | None = None,
    ) -> Generator[Change, None, None]:
        """The changes of workflows after a resource version; see the seam."""
        if kind != WORKFLOW:
            raise Unsupported(f"the {self.called} does not say what happens to {kind.plural}")
        wait = max(1, round(seconds))
        query = {
            **_options(selectors(labels, fields)),
            "listOptions.resourceVersion": version,
            "listOptions.timeoutSeconds": wait,
        }
        action = self._action("watch", kind, "", namespace)
        path = operation_path(kind, "watch_workflows", namespace=action.namespace)
        limit = self.policy.within(wait + self.policy.request)
        with self._answered("GET", path, action, query, seconds=limit) as answer:
            for event in self._events(answer):
                if "error" in event:
                    if _is_end(event["error"]):
                        return
                    raise self._refusal(0, event["error"], action)
                result = part(event, "result")
                found = self._checked(part(result, "object"))
                yield Change(cast("Any", result.get("type")), _whole(kind, found))

    def version(self) -> str:
        """The version that the server reports."""
        found = self._call("GET", self._action("get", VERSION), path="/api/v1/version")
        return f"Argo server {found.get('version')}"

    def log(
        self,
        pod: str,
        container: str,
        excerpt: Excerpt,
        *,
        run: str,
        seconds: float = 30,
        namespace: str | None = None,
    ) -> Generator[bytes, None, None]:
        """The log of a container, line by line; see the seam.

        The server returns lines as text: bytes that are not UTF-8 are lost, and so is whether the last line has
        ended.
        """
        asked = {"container": container, **excerpt.query()}
        query = {"podName": pod, **{f"logOptions.{name}": text for name, text in asked.items()}}
        action = self._action("read the log of", WORKFLOW, run, namespace)
        path = operation_path(WORKFLOW, "workflow_logs", namespace=action.namespace, name=run)
        with self._answered("GET", path, action, query, seconds=seconds) as answer:
            for event in self._events(answer):
                if "error" in event:
                    raise self._refusal(0, event["error"], action)
                yield str(event["result"].get("content") or "").encode() + b"\n"

    def proxy(self, pod: str, port: int, path: str, *, namespace: str | None = None) -> bytes:
        """Not supported. Raises Unsupported."""
        raise self._unsupported("pods")

    # --- writing -------------------------------------------------------------------------------------------

    def create(self, kind: Kind, body: Json, *, dry_run: bool = False) -> Json:
        """Create an object, once; see the seam. A dry run of a template only validates it."""
        if dry_run and kind != WORKFLOW:  # the server ignores dry runs of them, and would create it
            operation = f"lint_{words_of(kind).removesuffix('s')}"
            where = {"namespace": self.namespace} if kind.namespaced else {}
            path = operation_path(kind, operation, **where)
            action = self._action("create", kind, str(body["metadata"].get("name") or ""))
            return _whole(kind, self._ask("POST", path, {**where, field_of(kind): body}, action))
        return _whole(kind, super().create(kind, body, dry_run=dry_run))

    def replace(self, kind: Kind, body: Json) -> Json:
        """Not supported. Raises Unsupported."""
        raise Unsupported(f"the {self.called} does not replace {kind.plural}")

    def patch(self, kind: Kind, name: str, patch: Json, *, namespace: str | None = None) -> Json:
        """Not supported. Raises Unsupported."""
        raise Unsupported(f"the {self.called} does not patch {kind.plural}")

    def delete(self, kind: Kind, name: str, *, uid: str = "", namespace: str | None = None) -> None:
        """Delete an object. The server takes no `uid`, so it is compared just before."""
        if uid:
            try:
                found = self.get(kind, name, namespace=namespace)
            except Refusal as refusal:
                if refusal.code != NOT_FOUND:
                    raise
                return
            if found["metadata"].get("uid") != uid:
                status = {"message": f"`{name}` is another one by now", "reason": "Conflict"}
                raise Refusal(CONFLICT, status, *self._action("delete", kind, name, namespace))
        super().delete(kind, name, namespace=namespace)

    def act(self, verb: Verb, workflow: Json, options: Mapping[str, Any] | None = None) -> Json:
        """Perform an action on a run; see the seam and `flowdsl.runtime.cluster.verbs.act`."""
        given = options or {}
        parameters = cast("Mapping[str, str]", given.get("parameters") or {})
        found = verbs.again(self, workflow)
        if verb == "retry":
            return self._retry(found, tuple(given.get("nodes") or ()), parameters)
        verbs.check(verb, found)
        if verb == "resume":
            return self._resume(found, str(given.get("gate") or ""), parameters)
        if verbs.done(verb, found):
            return found
        if verb != "suspend" and found["spec"].get("suspend"):
            raise Unsupported(
                f"`{found['metadata']['name']}` is suspended, so Argo would not {verb} it, and the {self.called} "
                f"cannot resume it at the same time: resume it first, or {verb} it through the Kubernetes API"
            )
        return self._put(found, verb, {}, lambda after: verbs.done(verb, after))

    def _resume(self, workflow: Json, gate: str, parameters: Mapping[str, str]) -> Json:
        """Answer the gates one by one, and then resume all."""
        for node, values in gates.supplied(workflow, gate, parameters).items():
            if values or gate:
                answers = {"outputParameters": json.dumps(values)} if values else {}
                body = {"nodeFieldSelector": f"id={node}", "phase": SUCCEEDED, **answers}
                workflow = self._put(workflow, "set", body, partial(_passed, node))
        if gate or not gates.is_suspended(workflow):
            return workflow
        return self._put(workflow, "resume", {}, lambda after: not gates.is_suspended(after))

    def _retry(self, workflow: Json, nodes: Sequence[str], parameters: Mapping[str, str]) -> Json:
        # Raises Unfit for what the server would refuse.
        planned = retried(workflow, nodes, parameters, rfc3339(time.time()))
        if planned.objects:
            ended = ", ".join(sorted(planned.objects))
            raise Unsupported(
                f"the {self.called} cannot delete what a distributed step has made, with which it would fail again "
                f"at once ({ended}): retry it through the Kubernetes API"
            )
        selector = f"id={nodes[0]}" if nodes else ""
        if len(nodes) > 1:
            raise Unsupported(f"the {self.called} runs one step again at a time")
        body = {
            "restartSuccessful": bool(nodes),
            "nodeFieldSelector": selector,
            "parameters": [f"{name}={value}" for name, value in parameters.items()],
        }
        return self._put(workflow, "retry", body, lambda after: _begun(after, workflow))

    def _put(self, workflow: Json, verb: str, body: Json, made: Callable[[Json], bool]) -> Json:
        """Request an action on a run; returns the Workflow after it."""
        metadata = workflow["metadata"]
        action = self._action(verb, WORKFLOW, str(metadata["name"]), metadata.get("namespace") or None)
        where = {"namespace": action.namespace, "name": action.name}
        path = operation_path(WORKFLOW, f"{verb}_workflow", **where)
        sent = {**where, **body}
        return verbs.settled(
            self, workflow, lambda: _whole(WORKFLOW, self._ask("PUT", path, sent, action)), made
        )

    # --- requests ------------------------------------------------------------------------------------------

    def _ask(self, method: str, path: str, body: Json, action: Action) -> Json:
        """Send one request, whose path and body are those of the Argo server."""
        return super()._once(method, action, body=body, path=path)

    def _once(
        self,
        method: str,
        action: Action,
        *,
        body: object = None,
        query: Mapping[str, object] | None = None,
        content: str = "application/json",
        accept: str = "application/json",  # the server has no metadata-only form
        path: str = "",
    ) -> Json:
        """Send one request, in the terms of the Argo server."""
        kind = action.kind
        dry_run = bool(query and query.get("dryRun"))
        query = _options(query or {})
        if method == "POST":
            within = {"namespace": action.namespace} if kind.namespaced else {}
            body = {**within, field_of(kind): body}
            if dry_run:
                body["serverDryRun"] = True
        elif method == "DELETE":
            body = None
        return super()._once(method, action, body=body, query=query, content=content, path=path)

    def _refusal(self, code: int, found: Json, action: Action) -> Refusal:
        """An error response as a Refusal, classified by its gRPC code where HTTP is less specific."""
        grpc = found.get("code", found.get("grpc_code"))
        code, reason = _REASONS.get(cast("int", grpc), (code or 500, ""))
        message = str(found.get("message") or "")
        if "too old resource version" in message or "Expired" in message:
            code = EXPIRED
        if code == UNAUTHORIZED:
            message = f"{message or 'it does not know who asks'}: {self._way_in}"
        status = {"message": message, "reason": reason, "details": {"name": action.name}}
        return super()._refusal(code, status, action)

    def _events(self, answer: Answer) -> Generator[Json, None, None]:
        """The objects of a stream, one per line; as server-sent events they begin with `data: `."""
        for line in lines(answer):
            if text := line.removeprefix(b"data:").strip():
                yield self._decoded(text)

    def _path(self, kind: Kind, name: str, namespace: str) -> str:
        if kind not in SERVICES:
            raise self._unsupported(kind.plural)
        operation = words_of(kind)
        if name:
            return operation_path(kind, f"get_{operation.removesuffix('s')}", namespace=namespace, name=name)
        return operation_path(kind, f"list_{operation}", namespace=namespace)

    def _unsupported(self, what: str) -> Unsupported:
        return Unsupported(
            f"the {self.called} gives no access to {what}: that needs the Kubernetes API, see kubectl config"
        )


def _options(query: Mapping[str, object]) -> dict[str, object]:
    """The parameters of a Kubernetes API query that the server supports, by its names."""
    return {_OPTIONS[key]: value for key, value in query.items() if key in _OPTIONS}


def _whole(kind: Kind, found: Json) -> Json:
    """An object with its kind and apiVersion, which the server leaves out."""
    return {"apiVersion": kind.api_version, "kind": kind.name, **found}


def _passed(node: str, workflow: Json) -> bool:
    """Whether a run no longer waits at a node."""
    return all(one.node != node for one in gates.gates(workflow))


def _begun(after: Json, before: Json) -> bool:
    """Whether a run that had ended has been started again."""
    if not over(after):
        return True
    return bool(part(after, "status").get("startedAt") != part(before, "status").get("startedAt"))


def _is_end(error: Mapping[str, Any]) -> bool:
    """Whether a stream ended at its timeout: the server reports that as an error."""
    return str(error.get("message") or "").strip() in ("EOF", "")
