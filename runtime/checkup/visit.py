"""The input and the results of checks: a cluster with its settings and manifests; one line per result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from flowdsl.compiler.profile import NOWHERE
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.cluster.trouble import FORBIDDEN, NOT_FOUND, Refusal, Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.compiler.profile import Profile
    from flowdsl.runtime.cluster.seam import Cluster, Kind

Json = dict[str, Any]


class Check(NamedTuple):
    """The result of a check: its subject, its state, a sentence, and if it is not fine a command or setting as remedy.

    A `problem` prevents something from working; a `note` may; what is `unchecked` could not be read.
    """

    about: str
    status: Literal["ok", "note", "problem", "unchecked"]
    text: str
    remedy: str = ""


class Visit:
    """A cluster with its settings, and the manifests to run on it.

    Results of requests are cached for later checks. Objects that may not be read, or do not exist, are None.
    """

    def __init__(self, cluster: Cluster, profile: Profile = NOWHERE, manifests: Sequence[Json] = ()) -> None:
        self.cluster = cluster
        self.profile = profile
        self.manifests = manifests
        self.user = ""
        self.controllers: list[str] = []
        """The namespaces with a controller of Argo."""
        self._listed: dict[tuple[Kind, str | None], list[Json] | None] = {}

    @property
    def namespace(self) -> str:
        """The namespace that is checked."""
        return self.cluster.namespace

    @property
    def settings(self) -> str:
        """The place of the cluster's settings."""
        return f"[clusters.{self.profile.name}]" if self.profile.name else "a [clusters.NAME]"

    def list(self, kind: Kind, namespace: str | None = None) -> list[Json] | None:
        """The objects of a kind; None if they may not be read."""
        if (kind, namespace) not in self._listed:
            try:
                found: list[Json] | None = self.cluster.list(kind, namespace=namespace).items
            except (Refusal, Unsupported) as error:
                _only_unread(error)
                found = None
            self._listed[kind, namespace] = found
        return self._listed[kind, namespace]

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Json | None:
        """An object; None if it does not exist. Raises Unread if that is unknown."""
        try:
            return self.cluster.get(kind, name, namespace=namespace)
        except Unsupported as error:
            raise Unread(str(error)) from None
        except Refusal as refusal:
            _only_unread(refusal)
            if refusal.code == FORBIDDEN:
                raise Unread(refusal.message) from None
            return None

    def review(self, kind: Kind, question: Json) -> Json:
        """The answer of the server to a review of access or of the user. Raises Unread."""
        within = {"namespace": self.namespace} if kind.namespaced else {}
        body: Json = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": within, **question}
        try:
            found: Json = self.cluster.create(kind, body).get("status") or {}
        except Unsupported as error:
            raise Unread(str(error)) from None
        except Refusal as refusal:
            _only_unread(refusal)
            raise Unread(refusal.message) from None
        return found


class Unread(Exception):
    """The answer is unknown, since the user may not read it."""


def _only_unread(error: Refusal | Unsupported) -> None:
    if isinstance(error, Refusal) and error.code not in (FORBIDDEN, NOT_FOUND):
        raise error
