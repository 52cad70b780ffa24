"""Opens the source of a piece: selects its store and the credentials."""

from __future__ import annotations

import base64
import threading
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import STORES
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.artifacts.buckets import KINDS, SECRETS, Bucket, Keys, opened
from flowdsl.runtime.artifacts.sources import Local, Text
from flowdsl.runtime.artifacts.trouble import Missing, StoreError, Unfit
from flowdsl.runtime.artifacts.web import Web
from flowdsl.runtime.local.places import claim_folder
from flowdsl.runtime.local.pods.store import key_of
from flowdsl.runtime.parts import part, several

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from flowdsl.runtime.artifacts.pieces import Location, Piece
    from flowdsl.runtime.artifacts.reader import Readers
    from flowdsl.runtime.artifacts.sources import Source
    from flowdsl.runtime.cluster.seam import Cluster

Json = dict[str, Any]


class Ways(NamedTuple):
    """How the stores of a run are accessed."""

    mounts: Mapping[str, Path]
    """The folders of this machine at which claims are mounted."""
    cluster: Cluster | None = None
    folder: Path | None = None
    """For a run on this machine: its folder, with the files that it stored."""
    volumes: Path | None = None
    """For a run on this machine: the folder of claims without a mount."""
    readers: Readers | None = None
    """The pods that read the claims of a cluster, for a run there."""
    endpoint: str | None = None
    """The address at which the object store can be reached from here."""
    own: bool = False
    """Whether to use this machine's credentials in place of those in the secrets of the cluster."""


class Opener:
    """Opens the sources of pieces. Thread-safe."""

    def __init__(self, ways: Ways, run: str, namespace: str) -> None:
        self._ways, self._run, self._namespace = ways, run, namespace
        self._lock = threading.Lock()
        self._stores: dict[str, Any] = {}

    def __call__(self, piece: Piece) -> Source:
        """The source of a piece. Raises Missing, Unfit, StoreError and ClusterError."""
        place = piece.location
        match place.kind:
            case "":
                raise Missing("the workflow does not say where it is")
            case "raw":
                return Text(str(place.fields.get("data") or ""))
            case "http":
                if part(place.fields, "auth"):
                    raise Unfit("its server asks for a login, which is not supported: download it by hand")
                headers = {str(one["name"]): str(one["value"]) for one in several(place.fields, "headers")}
                return Web(place.key, headers)
            case "volume":
                return self._volume(place)
            case _:
                pass
        if self._ways.folder is not None and place.kind in STORES:
            return Local(self._ways.folder / "artifacts", key_of(place.kind, place.key).strip("/"))
        if place.kind not in KINDS:
            raise Unfit(f"it is in a store of the kind `{place.kind}`, which is not supported")
        if not (place.fields.get("bucket") or place.fields.get("container")):
            raise Missing("the workflow does not say in which bucket it is")
        return Bucket(self._store(place), place, self._ways.endpoint)

    def _volume(self, place: Location) -> Source:
        claim, ways = str(place.fields["claim"]), self._ways
        if claim in ways.mounts:
            return Local(ways.mounts[claim], place.key)
        if ways.folder is not None and ways.volumes is not None:
            return Local(claim_folder(claim, self._run, ways.folder, ways.volumes), place.key)
        if ways.readers is None:
            raise StoreError(
                f"claim {claim} cannot be reached: name its folder, --mount {claim}=PATH", place.store
            )
        return ways.readers.source(claim, place)

    def _store(self, place: Location) -> Any:
        """The store of a location, opened once."""
        key = repr(
            (
                place.kind,
                sorted(
                    (name, str(value)) for name, value in place.fields.items() if name not in ("key", "blob")
                ),
            )
        )
        with self._lock:
            if key not in self._stores:
                self._stores[key] = opened(place, Keys(self._secrets(place), self._ways.endpoint))
            return self._stores[key]

    def _secrets(self, place: Location) -> dict[str, str]:
        """The credentials that a location refers to; none to use those of this machine."""
        fields = place.fields
        if self._ways.own or fields.get("useSDKCreds") or self._ways.cluster is None:
            return {}
        wanted = {name: part(fields, name) for name in SECRETS[place.kind] if part(fields, name).get("name")}
        customer = part(part(fields, "encryptionOptions"), "serverSideCustomerKeySecret")
        if customer.get("name"):
            wanted["serverSideCustomerKeySecret"] = customer
        return {name: self._secret(one, place) for name, one in wanted.items()}

    def _secret(self, reference: Json, place: Location) -> str:
        from flowdsl.runtime.cluster.kinds import SECRET
        from flowdsl.runtime.cluster.trouble import FORBIDDEN, ClusterError, Refusal

        cluster, name, key = self._ways.cluster, str(reference["name"]), str(reference.get("key"))
        assert cluster is not None
        way_out = "use credentials of this machine: --own-credentials"
        where = f"in namespace `{self._namespace}`"
        try:
            data = part(cluster.get(SECRET, name, namespace=self._namespace), "data")
        except Refusal as refusal:
            ask = "ask for the right to get it, or " if refusal.code == FORBIDDEN else ""
            raise StoreError(
                f"cannot get Secret `{name}` {where}, which holds the credentials for {place.store}:"
                f" {refusal.message}; {ask}{way_out}",
                place.store,
            ) from None
        except ClusterError as error:
            raise StoreError(str(error), place.store) from None
        if key not in data:
            raise StoreError(f"Secret `{name}` {where} has no key `{key}`: {way_out}", place.store)
        try:
            return base64.b64decode(data[key], validate=True).decode()
        except ValueError:
            raise StoreError(
                f"the key `{key}` of Secret `{name}` {where} is not text: {way_out}", place.store
            ) from None
