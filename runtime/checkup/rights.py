"""Checks the permissions of the user and of the service accounts of pods."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.rbac import rbac
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.checkup.visit import Check, Unread
from flowdsl.runtime.cluster.kinds import (
    ACCESS_REVIEW,
    CLAIM,
    CONFIG_MAP,
    CRON,
    EVENT,
    NODE,
    POD,
    QUOTA,
    SECRET,
    TEMPLATE,
    WORKFLOW,
)
from flowdsl.runtime.cluster.seam import Kind
from flowdsl.runtime.parts import part, several, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flowdsl.runtime.checkup.visit import Visit

Json = dict[str, Any]

LOCAL_REVIEW = Kind("authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview")


class Right(NamedTuple):
    """An action of flowdsl on a kind, or a subresource, and the commands that need it.

    `needed`: without it nothing can be submitted and followed.
    """

    kind: Kind
    verbs: tuple[str, ...]
    commands: str
    part: str = ""
    needed: bool = False

    @property
    def resource(self) -> str:
        """The resource as kubectl takes it."""
        plural = f"{self.kind.plural}/{self.part}" if self.part else self.kind.plural
        return f"{plural}.{self.kind.group}" if self.kind.group else plural


RIGHTS = (
    Right(WORKFLOW, ("create", "get", "list", "watch"), "submit, get, watch", needed=True),
    Right(WORKFLOW, ("patch", "update", "delete"), "stop, retry, delete"),
    Right(POD, ("get", "list", "watch"), "get, logs", needed=True),
    Right(POD, ("get",), "logs", "log"),
    Right(POD, ("delete",), "retry"),
    Right(POD, ("get",), "top job --instance", "proxy"),
    Right(EVENT, ("list",), "get: why a pod waits"),
    Right(SECRET, ("get",), "fetch: the credentials of the store"),
    Right(CONFIG_MAP, ("get",), "fetch: where the store is"),
    Right(TEMPLATE, ("get",), "submit, diff"),
    Right(CRON, ("get",), "diff"),
    Right(CLAIM, ("get",), "submit: whether a volume is there"),
    Right(QUOTA, ("list",), "submit: whether a quota leaves room"),
    Right(NODE, ("list",), "top node"),
)


def rights(visit: Visit) -> Iterator[Check]:
    """The user's permissions for the actions of flowdsl, a line for each kind."""
    for right in RIGHTS:
        try:
            lacking = [verb for verb in right.verbs if not _may(visit, right, verb)]
        except Unread as error:
            yield Check("rights", "unchecked", f"what you may do cannot be told: {error}")
            return
        if not lacking:
            yield Check("rights", "ok", f"you may {', '.join(right.verbs)} {right.resource}")
            continue
        text = f"you may not {', '.join(lacking)} {right.resource} ({right.commands})"
        remedy = _grant("flowdsl", lacking, right.resource, _user(visit.user), visit, right.kind.namespaced)
        yield Check("rights", "problem" if right.needed else "note", text, remedy)


def _may(visit: Visit, right: Right, verb: str) -> bool:
    attributes = {
        "verb": verb,
        "group": right.kind.group,
        "resource": right.kind.plural,
        **({"subresource": right.part} if right.part else {}),
        **({"namespace": visit.namespace} if right.kind.namespaced else {}),
    }
    return bool(visit.review(ACCESS_REVIEW, {"spec": {"resourceAttributes": attributes}}).get("allowed"))


def _user(name: str) -> str:
    return f"--user={shlex.quote(name or 'NAME')}"


def _grant(
    name: str, verbs: Sequence[str], resource: str, subject: str, visit: Visit, namespaced: bool = True
) -> str:
    """The commands with which an administrator grants a permission."""
    within = f" -n {shlex.quote(visit.namespace)}" if namespaced else ""
    word = "role" if namespaced else "clusterrole"
    called = f"{name}-{resource.partition('.')[0].replace('/', '-')}-{verbs[0]}"
    return (
        f"kubectl create {word} {called} --verb={','.join(verbs)} --resource={shlex.quote(resource)}{within} && "
        f"kubectl create {word}binding {called} --{word}={called} {subject}{within}"
    )


# --- the accounts of pods --------------------------------------------------------------------------------


_ANY: Json = {
    "kind": "Workflow",
    "metadata": {"name": "any"},
    "spec": {"templates": [{"name": "any", "container": {"image": "any"}}]},
}
"""A workflow of one step, for the permissions that every workflow needs."""


def accounts(visit: Visit) -> Iterator[Check]:
    """The permissions that accounts of pods need, by the manifests; without any, those that every step needs."""
    asked: dict[tuple[str, str, str], list[str]] = {}
    for account, group, resource, verbs in _needed(list(visit.manifests) or [_ANY]):
        known = asked.setdefault((account, group, resource), [])
        known += [verb for verb in verbs if verb not in known]
    for (account, group, resource), verbs in asked.items():
        whole = f"{resource}.{group}" if group else resource
        try:
            lacking = [verb for verb in verbs if not _account_may(visit, account, verb, group, resource)]
        except Unread:
            text = f"whether the account `{account}` may {', '.join(verbs)} {whole} may not be asked"
            remedy = (
                f"kubectl auth can-i {verbs[0]} {whole} --as=system:serviceaccount:{visit.namespace}:{account} "
                f"-n {visit.namespace}"
            )
            yield Check("accounts", "unchecked", text, remedy)
            continue
        if not lacking:
            yield Check("accounts", "ok", f"the account `{account}` may {', '.join(verbs)} {whole}")
            continue
        text = f"the account `{account}` of pods may not {', '.join(lacking)} {whole}: its steps end with an error"
        subject = f"--serviceaccount={shlex.quote(f'{visit.namespace}:{account}')}"
        yield Check("accounts", "problem", text, _grant(f"{account}-steps", lacking, whole, subject, visit))


def _needed(manifests: Iterable[Json]) -> Iterator[tuple[str, str, str, list[str]]]:
    """Account, group, resource and verbs, from the roles and bindings that come with manifests."""
    documents = rbac(manifests).documents
    rules = {
        str(one["metadata"]["name"]): several(one, "rules")
        for one in documents
        if one["kind"] in ("Role", "ClusterRole")
    }
    for one in documents:
        for subject in several(one, "subjects"):
            if one["metadata"]["name"].endswith(":cache"):
                continue  # the controller's account
            for rule in rules.get(str(part(one, "roleRef").get("name")), []):
                for group in texts(rule, "apiGroups"):
                    for resource in texts(rule, "resources"):
                        yield str(subject["name"]), group, resource, texts(rule, "verbs")


def _account_may(visit: Visit, account: str, verb: str, group: str, resource: str) -> bool:
    plural, _, subresource = resource.partition("/")
    attributes = {"namespace": visit.namespace, "verb": verb, "group": group, "resource": plural}
    everyone = ["system:serviceaccounts", f"system:serviceaccounts:{visit.namespace}", "system:authenticated"]
    spec = {
        "user": f"system:serviceaccount:{visit.namespace}:{account}",
        "groups": everyone,
        "resourceAttributes": {**attributes, **({"subresource": subresource} if subresource else {})},
    }
    return bool(visit.review(LOCAL_REVIEW, {"spec": spec}).get("allowed"))
