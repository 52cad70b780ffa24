"""Errors of a cluster. The text of each is one line that a user can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flowdsl.runtime.cluster.seam import Kind

_RIGHTS = {"read the log of": "get pods/log", "ask": "get pods/proxy"}
"""The arguments of `kubectl auth can-i` for verbs that are not those of RBAC."""

UNAUTHORIZED = 401
FORBIDDEN = 403
NOT_FOUND = 404
CONFLICT = 409
EXPIRED = 410
TOO_LARGE = 413
_GATEWAY = (502, 504)


class ClusterError(Exception):
    """Base of the errors of a cluster."""


class Misconfigured(ClusterError):
    """There are no usable settings for a cluster: no request was sent."""


class Unconfigured(Misconfigured):
    """There are no settings for a cluster at all."""


class Unreachable(ClusterError):
    """A cluster gave no usable response. `sent`: whether it may have done what was requested.

    `lasting`: whether a retry would fail in the same way.
    """

    wait = 0.0
    """The seconds to wait before a retry, as requested by the server: none."""

    def __init__(self, text: str, *, sent: bool, lasting: bool = False) -> None:
        super().__init__(text)
        self.sent = sent
        self.lasting = lasting


class Uncertain(Unreachable):
    """A change that may have been made: there was no response, and none to the question whether it was."""

    def __init__(self, text: str) -> None:
        super().__init__(text, sent=True)


class Unread(Unreachable):
    """A log cannot be read, although the cluster responds otherwise."""

    def __init__(self, text: str) -> None:
        super().__init__(text, sent=True)


class Unfit(ClusterError):
    """An action that is impossible in the state of the run: nothing was changed."""


class Vanished(ClusterError):
    """A run no longer exists, or another one has its name."""


class Overdue(ClusterError):
    """The expected event did not happen in time."""


class Unreadable(ClusterError):
    """The data of a run in the cluster cannot be read."""


class Unsupported(ClusterError):
    """The API in use does not support this operation."""


class Refusal(ClusterError):
    """An error response of the server.

    `code` is that of HTTP, `status` the Status object that came with it (empty if none did). The text names the
    verb, the object, its namespace, the reason and the remedy.
    """

    def __init__(
        self, code: int, status: dict[str, Any], verb: str, kind: Kind, name: str, namespace: str
    ) -> None:
        self.code = code
        self.status = status
        self.verb = verb
        self.kind = kind
        self.name = name
        self.namespace = namespace
        self.wait = 0.0
        """The seconds to wait before a retry, as requested by the server."""
        super().__init__(self._text())

    @property
    def reason(self) -> str:
        """The reason in Kubernetes' own words: `AlreadyExists`."""
        return str(self.status.get("reason") or "")

    @property
    def message(self) -> str:
        """The message of the server, in one line."""
        return " ".join(str(self.status.get("message") or "no reason given").split())

    @property
    def no_such_kind(self) -> bool:
        """Whether the server does not know the kind at all, rather than this object.

        Source: apimachinery answers NotFound without a name in `details` for a path that nothing serves.
        """
        details: dict[str, Any] = self.status.get("details") or {}
        return self.code == NOT_FOUND and not details.get("name")

    @property
    def absent(self) -> bool:
        """Whether the object does not exist, although the server knows its kind."""
        return self.code == NOT_FOUND and not self.no_such_kind

    @property
    def permanent(self) -> bool:
        """Whether the same request would be refused again.

        A 5xx is worth a retry, except two of etcd's about size. Source: kube-apiserver 1.35 answers 500 with these
        texts for an object above etcd's limit of 1.5 MiB or the 2 MiB of its transport.
        """
        if self.code < 500:
            return self.code not in (408, 429)
        return "request is too large" in self.message or "ResourceExhausted" in self.message

    @property
    def for_good(self) -> bool:
        """Whether it is permanent also for a user who had access before: a login may expire, and be renewed."""
        return self.permanent and self.code != UNAUTHORIZED

    @property
    def doubtful(self) -> bool:
        """Whether the request may have been executed nevertheless, as by a server that failed halfway."""
        return self.code >= 500 and not self.permanent

    @property
    def lost(self) -> bool:
        """Whether a proxy reports that it got no response: a later look does not tell the outcome of the request."""
        return self.code in _GATEWAY

    def _text(self) -> str:
        name = f" `{self.name}`" if self.name else f" {self.kind.plural}" if self.verb == "list" else ""
        what = f"{self.verb}{name}" if self.verb == "list" else f"{self.verb} {self.kind.name}{name}"
        where = f" in namespace `{self.namespace}`" if self.namespace and self.kind.namespaced else ""
        remedy = self._remedy()
        return f"cannot {what}{where}: {self.message}" + (f"; {remedy}" if remedy else "")

    def _remedy(self) -> str:
        message = self.message
        within = (f" -n {self.namespace}" if self.namespace else " -A") if self.kind.namespaced else ""
        if self.code == UNAUTHORIZED:
            return "log in to the cluster again"
        if self.reason == "AlreadyExists" and self.verb == "create":
            return "give another --name"
        if self.code == FORBIDDEN and "exceeded quota" in message:
            return f"see kubectl describe resourcequota{within}"
        if self.code == FORBIDDEN and "admission webhook" in message:
            return ""  # a webhook has refused it, and says why: no permission is missing
        if self.code == FORBIDDEN:
            right = _RIGHTS.get(self.verb, f"{self.verb} {self.kind.resource}")
            return f"to see what you may do: kubectl auth can-i {right}{within}"
        if self.absent and self.verb == "get" and self.kind.group == "argoproj.io":
            return f"kubectl get {self.kind.resource}{within} shows what there is"
        if self.no_such_kind and self.kind.plural.startswith("/"):
            return "is that the address of an API server?"
        if self.no_such_kind and self.kind.group == "argoproj.io":
            return "Argo Workflows is not installed there: flowdsl doctor says how"
        if self.code == TOO_LARGE or "request is too large" in message or "ResourceExhausted" in message:
            return "it is larger than the API takes (1.5 MiB): split the sweep, or pass large values as files"
        return ""


class Expired(Refusal):
    """The server no longer has the resource version from which to continue: list again."""
