"""Objects in S3 (and compatible stores), Google Cloud Storage and Azure, by obstore."""

from __future__ import annotations

import configparser
import os
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.artifacts.sources import BLOCK, Entry
from flowdsl.runtime.artifacts.trouble import Broken, Changed, FetchError, Missing, StoreError, Unfit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.runtime.artifacts.pieces import Location

_CLIENT = {"connect_timeout": "10s", "timeout": "120s"}
_RETRIES = 3
_STATUS = regex(r"status code: (\d{3})")
_CODE = regex(r"<Code>(\w+)</Code>")
_HOST = regex(r"\w(?:[\w.-]*\w)?|[0-9a-f:.]*:[0-9a-f:.]*(?:%[\w.-]+)?", re.IGNORECASE)
_AMAZON = regex(r"s3[.-](?:[a-z0-9-]+\.)?amazonaws\.com(?:\.cn)?")
_S3_KEYS = {
    "accessKeySecret": "access_key_id",
    "secretKeySecret": "secret_access_key",
    "sessionTokenSecret": "token",
}
_REASONS = {
    "ExpiredToken": "the credentials have expired",
    "InvalidAccessKeyId": "it does not know the access key",
    "RequestTimeTooSkewed": "the clock of this machine is wrong",
    "SignatureDoesNotMatch": "the secret key is not that of the access key",
}
"""What codes of S3 mean for everything that is in the store."""
_WRITTEN = "written "
_KEYLESS = "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_ACCESS_KEY_ID"


class Keys(NamedTuple):
    """The credentials of a store, by the names of Argo's fields; empty to use those of this machine."""

    secrets: dict[str, str]
    endpoint: str | None = None
    """An address to use in place of that in the workflow."""


class Bucket:
    """One object of a store, or all objects below a key as a folder."""

    def __init__(self, store: Any, location: Location, endpoint: str | None) -> None:
        self._obstore = import_module("obstore")
        self._endpoint = endpoint
        self._store = store
        self._key = location.key
        self._place = location
        self.digests = location.kind == "s3"

    def entries(self) -> list[Entry]:
        """The object with the key; if there is none, those below it. Source: Load of Argo's drivers."""
        key = self._key
        if not key:
            raise Unfit("the workflow does not say under which key it is")
        if any(part in ("", ".", "..") for part in key.rstrip("/").split("/")):
            raise Unfit(f"its key `{key}` has a part that is empty or a dot")
        try:
            meta = None if key.endswith("/") else self._obstore.head(self._store, key)
        except FileNotFoundError:
            meta = None
        except Exception as error:
            raise self._trouble(self._explained(error)) from None
        if meta is not None:
            if not meta.get("e_tag") and self._has_everything():
                why = "it answers whatever it is asked for, as the console of a store does"
                raise StoreError(f"{self._where} is not a store of objects: {why}", self._place.store)
            return [self._entry("", meta)]
        prefix = f"{key.rstrip('/')}/"
        found: list[Entry] = []
        try:
            for page in self._obstore.list(self._store, prefix=prefix):
                found += [self._entry(str(one["path"]), one) for one in page]
        except Exception as error:
            raise self._trouble(error) from None
        # Some programs represent a folder by an empty object; obstore strips the slash from its key.
        folders = {above for one in found for above in _aboves(one.path)} | {prefix[:-1]}
        kept = [one for one in found if one.size or one.path not in folders]
        if not kept:
            raise Missing(f"there is no object {self._place.said}, and none below it")
        return sorted(one._replace(path=one.path.removeprefix(prefix)) for one in kept)

    def read(self, entry: Entry, offset: int) -> Iterator[bytes]:
        """Its bytes, of the version that was listed."""
        key = f"{self._key.rstrip('/')}/{entry.path}" if entry.path else self._key
        options: dict[str, object] = {"range": {"offset": offset}} if offset else {}
        if not entry.tag.startswith((_WRITTEN, "W/")):
            options["if_match"] = entry.tag
        try:
            got = self._obstore.get(self._store, key, options=options)
            if got.meta["size"] != entry.size or _tag(got.meta) != entry.tag:
                raise Changed(f"{self._place.said} has changed while it was read")
            for block in got.stream(min_chunk_size=BLOCK):
                yield bytes(block)
        except FetchError:
            raise
        except Exception as error:
            raise self._trouble(error) from None

    @staticmethod
    def _entry(path: str, meta: Any) -> Entry:
        return Entry(path, int(meta["size"]), _tag(meta))

    @property
    def _where(self) -> str:
        """The address of the store in a sentence."""
        store = self._place.store
        return f"{self._endpoint}, which stands for {store}," if self._endpoint else store

    def _has_everything(self) -> bool:
        """Whether it answers for an object that nobody has made.

        An answer without an ETag does not say so: stores that keep objects as files have none.
        """
        try:
            self._obstore.head(self._store, f"{self._key}.{uuid4().hex}")
        except Exception:  # it is there for no reason but to be refused
            return False
        return True

    def _explained(self, error: Exception) -> Exception:
        """What a GET is refused with, in place of a HEAD, whose answer has no room for a reason."""
        status = _STATUS.search(_text(error))
        if status is None or not status[1].startswith("4"):
            return error
        try:
            self._obstore.get_range(self._store, self._key, start=0, length=1)
        except Exception as reason:
            return reason
        return error

    def _trouble(self, error: Exception) -> Exception:
        """An error of obstore in one line. Any other exception is returned as it is."""
        names = {one.__name__ for one in type(error).__mro__}
        text = _text(error)
        status = _STATUS.search(text)
        said = self._place.said
        code = _CODE.search(text)
        why = f" ({code[1]})" if code else ""
        if "PreconditionError" in names:
            return Changed(f"{said} has changed while it was read")
        if "NoSuchBucket" in text:
            return StoreError(f"there is no {self._place.store}", self._place.store)
        if code and code[1] in _REASONS:
            return StoreError(
                f"{self._place.store} refused to give {said}: {_REASONS[code[1]]}", self._place.store
            )
        if isinstance(error, FileNotFoundError):
            return Missing(f"there is no object {said}")
        if "InvalidPathError" in names or (isinstance(error, ValueError) and "parse path" in text):
            why = text.rpartition("with invalid path: ")[2].removeprefix("Error parsing ")
            return Unfit(f"a key below {said} is not a path, so none of them is fetched: {why}")
        if {"PermissionDeniedError", "UnauthenticatedError"} & names or (
            status and status[1] in ("401", "403")
        ):
            return StoreError(
                f"{self._place.store} refused to give {said}{why}: the credentials do not allow it"
            )
        if "BaseError" not in names:
            return error
        if "169.254.169.254" in text or "metadata.google" in text:
            return StoreError(
                f"there are no credentials for {self._place.store} on this machine: set them in the"
                " environment, as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
                self._place.store,
            )
        if "redirect without LOCATION" in text or (status and status[1].startswith("3")):
            return StoreError(f"{self._place.store} is in another region: set AWS_REGION", self._place.store)
        if status and status[1] != "416":
            kind = Broken if status[1].startswith("5") else StoreError
            return kind(f"{self._place.store} answered {status[1]}{why} for {said}")
        if "InvalidCertificate" in str(error):
            return StoreError(
                f"{self._where} has a certificate that is not trusted here: name that of its authority, "
                "SSL_CERT_FILE=ca.pem",
                self._place.store,
            )
        if "error sending request" in text or "onnect" in text:
            if self._endpoint:
                return Broken(f"{self._where} cannot be reached from here", self._place.store)
            return Broken(
                f"{self._place.store} cannot be reached from here; if it is inside of the cluster, forward its"
                " port (kubectl port-forward) and name that: --endpoint http://localhost:PORT",
                self._place.store,
            )
        return Broken(f"{said} broke off: {text[:200]}")


def _text(error: Exception) -> str:
    """The text of an error of obstore in one line, without its inner structure."""
    return " ".join(str(error).partition("\n\nDebug source")[0].split())


def _aboves(path: str) -> Iterator[str]:
    """The parent folders of a path."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _tag(meta: Any) -> str:
    """The ETag; for a store without them, the time of the last write."""
    return str(meta.get("e_tag") or f"{_WRITTEN}{meta['last_modified'].isoformat()}")


def checked(endpoint: str) -> str:
    """The address of a store: a URL, or a host with an optional port. Raises ValueError for any other text."""
    wrong = f"`{endpoint}` is not an address: one looks like http://localhost:9000"
    try:
        parts = urlsplit(endpoint if "://" in endpoint else f"//{endpoint}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError(wrong) from None
    plain = not parts.query and not parts.fragment and endpoint.isprintable() and " " not in endpoint
    if parts.scheme not in ("", "http", "https") or port == 0 or not plain or not _HOST.fullmatch(host):
        raise ValueError(wrong)
    return endpoint


def opened(location: Location, keys: Keys) -> Any:
    """Open the store of a location. Raises StoreError."""
    try:
        for one in (keys.endpoint, location.fields.get("endpoint")):
            if one:
                checked(str(one))
        stores = import_module("obstore.store")
        return _STORES[location.kind](stores, location.fields, keys)
    except StoreError:
        raise
    except Exception as error:
        raise StoreError(f"{location.store} cannot be used: {_text(error)[:200]}", location.store) from None


def _s3(stores: Any, fields: Any, keys: Keys) -> Any:
    config: dict[str, Any] = {"bucket": fields.get("bucket", "")}
    host = str(fields.get("endpoint") or "s3.amazonaws.com")
    scheme = "http" if fields.get("insecure") else "https"
    endpoint = keys.endpoint or (None if _AMAZON.fullmatch(host) else f"{scheme}://{host}")
    if endpoint:
        config["endpoint"] = endpoint if "://" in endpoint else f"{scheme}://{endpoint}"
    if fields.get("region"):
        config["region"] = fields["region"]
    elif endpoint:
        config["region"] = os.environ.get("AWS_REGION") or "us-east-1"
    secrets = keys.secrets or _profile()
    found = {name: secrets.get(field, "").strip() for field, name in _S3_KEYS.items()}
    # As a provider: so nothing else from the environment, such as a token of another session, is mixed in.
    own = {**found, "token": found["token"] or None, "expires_at": None}
    provider = (lambda: own) if found["access_key_id"] else None
    if fields.get("roleARN") and provider is None:
        config["role_arn"] = fields["roleARN"]
    customer = secrets.get("serverSideCustomerKeySecret")
    if customer:
        import base64

        config["sse_customer_key_base64"] = base64.b64encode(customer.encode()).decode()
    client: dict[str, Any] = {**_CLIENT, "allow_http": str(config.get("endpoint", "")).startswith("http://")}
    if secrets.get("caSecret"):
        client["root_certificate"] = secrets["caSecret"]
    return stores.S3Store(
        config=config, client_options=client, retry_config=_retries(), credential_provider=provider
    )


def _gcs(stores: Any, fields: Any, keys: Keys) -> Any:
    config: dict[str, Any] = {"bucket": fields.get("bucket", "")}
    if keys.secrets.get("serviceAccountKeySecret"):
        config["service_account_key"] = keys.secrets["serviceAccountKeySecret"]
    client: dict[str, Any] = {**_CLIENT, "allow_http": True}  # a key may name an emulator
    if keys.endpoint:
        config["base_url"] = keys.endpoint
    return stores.GCSStore(config=config, client_options=client, retry_config=_retries())


def _azure(stores: Any, fields: Any, keys: Keys) -> Any:
    endpoint = str(keys.endpoint or fields.get("endpoint") or "")
    account = re.sub(r"^https?://", "", str(fields.get("endpoint") or "")).partition(".")[0]
    config: dict[str, Any] = {"container_name": fields.get("container", ""), "account_name": account}
    if keys.endpoint or not endpoint.rstrip("/").endswith(".blob.core.windows.net"):
        config["endpoint"] = endpoint
    if keys.secrets.get("accountKeySecret"):
        config["account_key"] = keys.secrets["accountKeySecret"].strip()
    client: dict[str, Any] = {**_CLIENT, "allow_http": endpoint.startswith("http://")}
    return stores.AzureStore(config=config, client_options=client, retry_config=_retries())


_STORES = {"s3": _s3, "gcs": _gcs, "azure": _azure}
KINDS = frozenset(_STORES)
"""The stores that can be read."""
SECRETS = {
    "s3": ("accessKeySecret", "secretKeySecret", "sessionTokenSecret", "caSecret"),
    "gcs": ("serviceAccountKeySecret",),
    "azure": ("accountKeySecret",),
}
"""The fields that refer to secrets."""


def _retries() -> dict[str, Any]:
    from datetime import timedelta

    return {"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=30)}


def _profile() -> dict[str, str]:
    """Keys written by `aws configure`, if the environment has none: obstore does not read that file."""
    if any(os.environ.get(name) for name in _KEYLESS):
        return {}
    path = Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or "~/.aws/credentials").expanduser()
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return {}
    profile = os.environ.get("AWS_PROFILE") or "default"
    if not parser.has_section(profile):
        return {}
    names = zip(_S3_KEYS, ("aws_access_key_id", "aws_secret_access_key", "aws_session_token"), strict=True)
    return {field: parser.get(profile, name, fallback="") for field, name in names}
