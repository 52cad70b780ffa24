"""Access through the Kubernetes API."""

from __future__ import annotations

import json
import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.cluster import verbs
from flowdsl.runtime.cluster.kinds import POD, VERSION, WORKFLOW
from flowdsl.runtime.cluster.policy import Policy
from flowdsl.runtime.cluster.seam import (
    EVERYWHERE,
    Change,
    Excerpt,
    Json,
    Keep,
    Kind,
    Listing,
    Verb,
    metadata_of,
    whole,
)
from flowdsl.runtime.cluster.trouble import (
    CONFLICT,
    EXPIRED,
    TOO_LARGE,
    UNAUTHORIZED,
    Expired,
    Overdue,
    Refusal,
    Uncertain,
    Unreachable,
)
from flowdsl.runtime.parts import part

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from flowdsl.runtime.cluster.transport import Answer, Transport

SUBMIT_ID = "flowdsl.dev/submit-id"
"""The annotation by which a submission recognizes its own object."""

_MANAGER = {"fieldManager": "flowdsl", "fieldValidation": "Strict"}
_MERGE = "application/merge-patch+json"
_PAGE = 500
_LARGE = 100
"""The page size for objects that may have a megabyte each."""
_JSON = "application/json"
_METADATA = f"{_JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{_JSON}"
_WARNING = regex(r'299 \S+ "((?:[^"\\]|\\.)*)"')
"""A warning in a `Warning` header. Source: apimachinery, pkg/util/net/http.go."""
_TAG = regex(r"(?is)<(style|script)\b.*?</\1>|<[^>]*>")
_SAID = 200
"""The most characters to quote of a response that is not the API's."""
_OF_ANY = (UNAUTHORIZED, TOO_LARGE)
"""Codes that mean the same from a proxy."""
_GRACE = 15
"""Seconds after its end at which a watch that has not ended counts as broken."""


class Action(NamedTuple):
    """The verb and object of a request."""

    verb: str
    kind: Kind
    name: str  # empty for all of a kind
    namespace: str


class Kubernetes:
    """A `Cluster` behind a Kubernetes API server; see `flowdsl.runtime.cluster.seam.Cluster`."""

    speaker = "the Kubernetes API"
    """The name of the server in a sentence."""

    def __init__(self, transport: Transport, policy: Policy | None = None) -> None:
        self._transport = transport
        self.policy = policy or Policy()
        self.warnings: list[str] = []
        self.namespace = transport.namespace
        self.called = (
            f"cluster `{transport.context}`" if transport.context else f"cluster at {transport.host}"
        )

    def version(self) -> str:
        """The version that the server reports."""
        found = self._call("GET", self._action("get", VERSION), path="/version")
        return f"Kubernetes {found.get('gitVersion')}"

    # --- reading -------------------------------------------------------------------------------------------

    def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json:
        """One object."""
        found = self._call("GET", self._action("get", kind, name, namespace))
        # Without a name these are the resources of an API version.
        return self._checked(found, "name", "uid") if name else found

    def list(
        self,
        kind: Kind,
        *,
        labels: str = "",
        fields: str = "",
        namespace: str | None = None,
        keep: Keep = whole,
    ) -> Listing:
        """The objects that match selectors, read page by page; read again from the start if a page has expired."""
        size = _LARGE if kind == WORKFLOW else _PAGE
        query: dict[str, object] = {**selectors(labels, fields), "limit": size}
        accept = _METADATA if keep is metadata_of else _JSON
        action = self._action("list", kind, "", namespace)
        items: list[Json] = []
        while True:
            try:
                page = self._call("GET", action, query=query, accept=accept)
            except Refusal as refusal:
                if refusal.code != EXPIRED or "continue" not in query:
                    raise
                items.clear()
                del query["continue"]
                continue
            self._checked(page, "resourceVersion")
            items.extend(map(keep, page.get("items") or ()))
            more = page["metadata"].get("continue")
            if not more:
                return Listing(items, str(page["metadata"]["resourceVersion"]))
            query["continue"] = more
            if self.policy.over:
                raise Overdue(f"the time is over: the {kind.plural} were not listed to their end")

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
        """The changes after a resource version; see the seam.

        The server counts whole seconds and ends the response by itself. A response that is silent for longer is
        half-open: nothing else would tell.
        """
        wait = max(1, round(seconds))
        query = {
            **selectors(labels, fields),
            "watch": "1",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": wait,
        }
        action = self._action("watch", kind, "", namespace)
        path = self._path(kind, "", action.namespace)
        limit = self.policy.within(wait + min(_GRACE, self.policy.request))
        with self._answered("GET", path, action, query, seconds=limit) as answer:
            for line in lines(answer):
                event = self._decoded(line)
                found = part(event, "object")
                if event.get("type") == "ERROR":
                    raise self._refusal(int(found.get("code") or 0), found, action)
                yield Change(cast("Any", event.get("type")), self._checked(found, "resourceVersion"))

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
        """The log of a container; see the seam."""
        query = {"container": container, **excerpt.query()}
        action = self._action("read the log of", POD, pod, namespace)
        path = f"{self._path(POD, pod, action.namespace)}/log"
        with self._answered("GET", path, action, query, seconds=self.policy.within(seconds)) as answer:
            if answer.header("Content-Type").startswith("text/html"):  # a log is text/plain
                raise self._strange(_plain(answer.body()))
            yield from answer.pieces()

    def proxy(self, pod: str, port: int, path: str, *, namespace: str | None = None) -> bytes:
        """The response of a pod's own HTTP server at a path."""
        action = self._action("ask", POD, pod, namespace)
        whole = f"{self._path(POD, f'{pod}:{port}', action.namespace)}/proxy/{path.lstrip('/')}"
        with self._answered("GET", whole, action, seconds=self.policy.within(self.policy.request)) as answer:
            return answer.body()

    # --- writing -------------------------------------------------------------------------------------------

    def create(self, kind: Kind, body: Json, *, dry_run: bool = False) -> Json:
        """Create an object, once; see the seam.

        A retry is safe because the client chooses the name, which the server accepts once. After an inconclusive
        response, an existing object of that name is compared by its submit id. Source: generateName creates two
        objects for two requests.
        """
        name, own = str(body["metadata"].get("name") or ""), _submit_id(body)
        query = {**_MANAGER, **({"dryRun": "All"} if dry_run else {})}
        action = self._action("create", kind, name)
        path = self._path(kind, "", action.namespace)
        pauses = self.policy.pauses()
        doubt: Refusal | Unreachable | None = None
        while True:
            try:
                made = self._once("POST", action, body=body, query=query, path=path)
                # A review is not stored, and has no name.
                return self._checked(made, "name") if name else made
            except Unreachable as error:
                doubt = error if error.sent and not dry_run else doubt
                problem: Refusal | Unreachable = error
            except Refusal as refusal:
                problem = refusal
                if refusal.doubtful and not dry_run and not isinstance(doubt, Unreachable):
                    doubt = refusal
                if refusal.code == CONFLICT and refusal.reason == "AlreadyExists" and own and not dry_run:
                    found = self._found(kind, name)
                    if found is not None and _submit_id(found) == own:
                        return found
                    if found is not None:
                        raise
                # A conflict may be about a quota that others use, too.
                elif refusal.permanent and refusal.reason != "Conflict":
                    if doubt is None:
                        raise
                    return self._settled(kind, name, own, doubt)
            try:
                pauses.again(problem, problem.wait)
            except (Refusal, Unreachable, Overdue):
                if doubt is None:
                    raise
                return self._settled(kind, name, own, doubt)

    def _settled(self, kind: Kind, name: str, own: str, doubt: Refusal | Unreachable) -> Json:
        """The object that was created after all, by its submit id. Else raises the error, as Uncertain if in doubt."""
        try:
            found = self.get(kind, name)
        except Refusal as refusal:
            if refusal.absent and isinstance(doubt, Refusal) and not doubt.lost:
                raise doubt from None
        except (Unreachable, Overdue):
            pass
        else:
            if own and _submit_id(found) == own:
                return found
        raise doubt if isinstance(doubt, Unreachable) else Uncertain(str(doubt)) from None

    def _found(self, kind: Kind, name: str) -> Json | None:
        """An object, if it exists and can be read."""
        try:
            return self.get(kind, name)
        except (Refusal, Unreachable):
            return None

    def replace(self, kind: Kind, body: Json) -> Json:
        """Replace an object in the version that was read. Raises Refusal (409 if it has changed)."""
        metadata = body["metadata"]
        action = self._action("update", kind, str(metadata["name"]), metadata.get("namespace") or None)
        return self._call("PUT", action, body=body, query=_MANAGER)

    def patch(self, kind: Kind, name: str, patch: Json, *, namespace: str | None = None) -> Json:
        """Apply a merge patch (RFC 7396) to an object."""
        action = self._action("patch", kind, name, namespace)
        return self._call("PATCH", action, body=patch, query=_MANAGER, content=_MERGE)

    def delete(self, kind: Kind, name: str, *, uid: str = "", namespace: str | None = None) -> None:
        """Delete an object, and its dependents; with a `uid` only the object with that uid."""
        body: Json = {"propagationPolicy": "Background"}
        if uid:
            body["preconditions"] = {"uid": uid}
        try:
            self._call("DELETE", self._action("delete", kind, name, namespace), body=body)
        except Refusal as refusal:
            if not refusal.absent:
                raise

    def act(self, verb: Verb, workflow: Json, options: Mapping[str, Any] | None = None) -> Json:
        """Perform an action on a run; see the seam."""
        return verbs.act(self, verb, workflow, options or {})

    # --- requests ------------------------------------------------------------------------------------------

    def _action(self, verb: str, kind: Kind, name: str = "", namespace: str | None = None) -> Action:
        return Action(verb, kind, name, self.namespace if namespace is None else namespace)

    def _call(self, method: str, action: Action, **more: Any) -> Json:
        """Send an idempotent request, with retries; returns the object of the response.

        Raises Unreachable with `sent` if any of the attempts may have been received.
        """
        pauses = self.policy.pauses()
        doubt: Unreachable | None = None
        while True:
            try:
                return self._once(method, action, **more)
            except Unreachable as error:
                doubt = error if error.sent else doubt
                problem: Refusal | Unreachable = error
            except Refusal as refusal:
                if refusal.permanent:
                    raise
                problem = refusal
            pauses.again(doubt or problem, problem.wait)

    def _once(
        self,
        method: str,
        action: Action,
        *,
        body: object = None,
        query: Mapping[str, object] | None = None,
        content: str = _JSON,
        accept: str = _JSON,
        path: str = "",
    ) -> Json:
        path = path or self._path(action.kind, action.name, action.namespace)
        seconds = self.policy.within(self.policy.request)
        with self._answered(
            method,
            path,
            action,
            query,
            body=body,
            content=content,
            accept=accept,
            packed=True,
            seconds=seconds,
        ) as answer:
            return self._decoded(answer.body())

    @contextmanager
    def _answered(
        self,
        method: str,
        path: str,
        action: Action,
        query: Mapping[str, object] | None = None,
        **more: Any,
    ) -> Generator[Answer, None, None]:
        """A successful response. If the credentials are rejected, they are reloaded, once."""
        for renewed in (False, True):
            within = self.policy.within(math.inf)
            with self._transport.open(method, path, query, within=within, **more) as answer:
                if answer.status == UNAUTHORIZED and not renewed:
                    self._transport.renew(answer.way)
                    continue
                self._judge(answer, action)
                yield answer
                return

    def _judge(self, answer: Answer, action: Action) -> None:
        """Raise Refusal, or Expired, for an error response. Warnings of the server are kept.

        Raises Unreachable for the page of a proxy or a login that a retry would bring again: the API did not answer.
        """
        said = (one.replace('\\"', '"') for one in _WARNING.findall(answer.header("Warning")))
        self.warnings.extend(one for one in dict.fromkeys(said) if one not in self.warnings)
        if answer.status < 300:
            return
        text = answer.body()
        found = _object(text)
        if found is None:  # from a proxy in between
            found = {"message": ": ".join(filter(None, (f"HTTP {answer.status}", _plain(text))))}
        if elsewhere := answer.header("Location"):
            found = {"message": f"{self._transport.host} sends on to {elsewhere}, which is not an API server"}
        raised = self._refusal(answer.status, found, action)
        if raised.permanent and answer.status not in _OF_ANY and not elsewhere and _is_page(text):
            raise self._strange(str(found["message"]), sent=False, lasting=True)
        raised.wait = _seconds(answer.header("Retry-After"))
        raise raised

    def _refusal(self, code: int, found: Json, action: Action) -> Refusal:
        """The Refusal for an error in a response or in a watch."""
        return (Expired if code == EXPIRED else Refusal)(code, found, *action)

    def _decoded(self, text: bytes) -> Json:
        """Decode a JSON object. Raises Unreachable for anything else: the response was cut, or is not the API's."""
        found = _object(text)
        if found is None:
            raise self._strange("" if text.lstrip().startswith(b"{") else _plain(text))
        return found

    def _checked(self, found: Json, *keys: str) -> Json:
        """An object or list whose metadata have certain keys. Raises Unreachable for anything else."""
        metadata: object = found.get("metadata")
        if not isinstance(metadata, dict) or any(key not in metadata for key in keys):
            raise self._strange()
        return found

    def _strange(self, shown: str = "", *, sent: bool = True, lasting: bool = False) -> Unreachable:
        text = f"the answer of {self._transport.host} is not what {self.speaker} gives"
        return Unreachable(f"{text}: {shown}" if shown else text, sent=sent, lasting=lasting)

    def _path(self, kind: Kind, name: str, namespace: str) -> str:
        base = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        if kind.namespaced and namespace != EVERYWHERE:
            base += f"/namespaces/{quote(namespace, safe='')}"
        return f"{base}/{kind.plural}" + (f"/{quote(name, safe=':')}" if name else "")


def selectors(labels: str, fields: str) -> dict[str, object]:
    """The non-empty selectors, as a query of the Kubernetes API."""
    return {
        **({"labelSelector": labels} if labels else {}),
        **({"fieldSelector": fields} if fields else {}),
    }


def _submit_id(body: Json) -> str:
    annotations: dict[str, str] = body["metadata"].get("annotations") or {}
    return annotations.get(SUBMIT_ID, "")


def _seconds(header: str) -> float:
    """The seconds of a Retry-After header; a date is ignored."""
    return float(header) if header.isdecimal() else 0.0


def _plain(text: bytes) -> str:
    """The beginning of the page of a proxy or a login, without HTML tags."""
    return " ".join(_TAG.sub(" ", text.decode("utf-8", "replace")).split())[:_SAID]


def _is_page(text: bytes) -> bool:
    """Whether a response is HTML. The API server itself answers some requests with plain text."""
    return text.lstrip()[:1] == b"<"


def _object(text: bytes) -> Json | None:
    try:
        found: object = json.loads(text)
    except ValueError:
        return None
    return cast("Json", found) if isinstance(found, dict) else None


def lines(answer: Answer) -> Generator[bytes, None, None]:
    """The lines of a response as they arrive, without empty ones."""
    rest: list[bytes] = []
    for piece in answer.pieces():
        *ended, last = piece.split(b"\n")
        for line in ended:
            rest.append(line)
            if whole := b"".join(rest):
                yield whole
            rest = []
        rest.append(last)
    # What comes after the last line feed was cut; the next watch brings it again.
