"""A cluster that stands still: objects to read, and rights to read them, behind the seam of the runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from flowdsl.runtime.cluster.policy import Policy
from flowdsl.runtime.cluster.seam import EVERYWHERE, Change, Excerpt, Json, Keep, Kind, Listing, Verb, whole
from flowdsl.runtime.cluster.trouble import FORBIDDEN, NOT_FOUND, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

Answers = dict[str, "bytes | Exception"]


class Standing:
    """Has `objects`, each with its kind; requests in `forbidden`, such as `list nodes`, are denied.

    `served` are kinds by group and version, `answers` the responses of pods, `created` that of `create`.
    """

    def __init__(
        self,
        objects: Iterable[Json] = (),
        *,
        forbidden: Iterable[str] = (),
        served: Mapping[str, list[str]] | None = None,
        answers: Answers | None = None,
        created: Callable[[Kind, Json], Json] | None = None,
    ) -> None:
        self.namespace = "ml"
        self.called = "cluster `lab`"
        self.policy = Policy()
        self.warnings: list[str] = []
        self.objects = list(objects)
        self.forbidden = set(forbidden)
        self.served = served or {}
        self.answers = answers or {}
        self.created = created
        self.asked: list[str] = []

    def _allow(self, verb: str, kind: Kind, name: str, namespace: str | None) -> None:
        self.asked.append(f"{verb} {kind.plural}")
        within = self.namespace if namespace is None else namespace
        marks = {f"{verb} {kind.plural}", f"{verb} {kind.plural} {within or '*'}"}
        if marks & self.forbidden:
            text = f'{kind.plural} is forbidden: User "ada" cannot {verb} resource "{kind.plural}"'
            raise Refusal(FORBIDDEN, {"message": text, "reason": "Forbidden"}, verb, kind, name, within)

    def _these(self, kind: Kind, namespace: str | None) -> list[Json]:
        within = self.namespace if namespace is None else namespace
        return [
            one
            for one in self.objects
            if one["kind"] == kind.name
            and (
                not kind.namespaced
                or within in (EVERYWHERE, one["metadata"].get("namespace", self.namespace))
            )
        ]

    def version(self) -> str:
        """The version of the server."""
        return "Kubernetes v1.35.4"

    def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json:
        self._allow("get", kind, name, namespace)
        if not kind.plural:
            kinds = self.served.get(kind.api_version)
            if kinds is not None:
                return {"resources": [{"name": f"{one.lower()}s", "kind": one} for one in kinds]}
            raise Refusal(NOT_FOUND, {"message": "404 page not found"}, "get", kind, name, "")
        for one in self._these(kind, namespace):
            if one["metadata"]["name"] == name:
                return one
        status = {"message": f'{kind.plural} "{name}" not found', "details": {"name": name}}
        raise Refusal(NOT_FOUND, status, "get", kind, name, self.namespace)

    def list(
        self,
        kind: Kind,
        *,
        labels: str = "",
        fields: str = "",
        namespace: str | None = None,
        keep: Keep = whole,
    ) -> Listing:
        self._allow("list", kind, "", namespace)
        wanted = labels.split(",") if labels else []
        these = [
            one
            for one in self._these(kind, namespace)
            if all(_has(one["metadata"].get("labels") or {}, each) for each in wanted)
        ]
        return Listing([keep(one) for one in these], "1")

    def create(self, kind: Kind, body: Json, *, dry_run: bool = False) -> Json:
        self._allow("create", kind, body["metadata"].get("name", ""), body["metadata"].get("namespace"))
        if self.created is None:
            raise AssertionError(f"nothing creates a {kind.name}")
        return self.created(kind, body)

    def proxy(self, pod: str, port: int, path: str, *, namespace: str | None = None) -> bytes:
        self.asked.append(f"proxy {pod}:{port}/{path}")
        answer = self.answers[pod]
        if isinstance(answer, Exception):
            raise answer
        return answer

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
        raise AssertionError("nothing is watched here")

    def delete(self, kind: Kind, name: str, *, uid: str = "", namespace: str | None = None) -> None:
        raise AssertionError("nothing is deleted here")

    def act(self, verb: Verb, workflow: Json, options: Mapping[str, Any] | None = None) -> NoReturn:
        raise AssertionError("nothing is done to a run here")

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
        raise AssertionError("no log is read here")


def _has(labels: dict[str, str], wanted: str) -> bool:
    """Whether labels match one term of a selector: `a=b`, `a!=b`, or `a`."""
    key, equals, value = wanted.partition("=")
    if key.endswith("!"):
        return labels.get(key[:-1]) != value
    return labels.get(key) == value if equals else key in labels


def thing(kind: str, name: str, namespace: str | None = None, **rest: Any) -> Json:
    """An object of a kind."""
    metadata: Json = {"name": name, **({"namespace": namespace} if namespace else {})}
    metadata |= rest.pop("metadata", {})
    return {"kind": kind, "metadata": metadata, **rest}
