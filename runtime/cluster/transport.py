"""HTTP requests to a Kubernetes API server.

The package `kubernetes` is used for the user's settings and credentials, and for the connections made from them; none
of its model or API classes is used. Versions 31 to 37 have what is used here in common.
"""

from __future__ import annotations

import json
import logging
import math
import os
import shutil
import threading
import time
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.cluster.trouble import Misconfigured, Unconfigured, Unreachable

if TYPE_CHECKING:
    import socket
    from collections.abc import Generator, Iterator, Mapping, Sequence

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_PIECE = 1 << 14
_FILES = 10240
"""The most open files of a process on macOS. Source: OPEN_MAX of its sys/syslimits.h."""
_NUMBER = regex(r"^\[Errno \d+\] ")
"""The prefix of Python before an error message of the system."""
_LONG = 800
"""The most characters to quote of an error of the client."""
_SLOWEST = 4 << 10
"""The least bytes per second of a response: its size extends the timeout at this rate."""


class Access(NamedTuple):
    """Which cluster to use, and as which user: by default those of the user's settings."""

    context: str | None = None
    namespace: str | None = None
    kubeconfig: Path | None = None


class Way(NamedTuple):
    """A connection pool with its configuration. `identity`: further headers that say who connects."""

    host: str
    pool: Any
    configuration: Any
    context: str
    namespace: str
    identity: Sequence[tuple[str, str]] = ()


class Answer:
    """A response whose body the caller reads while the connection is open: until a time on the monotonic clock."""

    def __init__(self, response: Any, seconds: float, until: float, way: Way) -> None:
        self._response = response
        self._seconds = seconds
        self._until = until
        self.way = way
        self.status: int = response.status

    def header(self, name: str) -> str:
        """A header; empty if it is missing."""
        return str(self._response.headers.get(name) or "")

    def pieces(self) -> Iterator[bytes]:
        """The body as it arrives. Raises Unreachable when it breaks off, or the time for it is over."""
        import urllib3

        found = self._response.stream(_PIECE, decode_content=True)
        with _cut(self._socket(), self._until - time.monotonic()):
            while True:
                left = self._until - time.monotonic()
                if left > 0 and (connection := self._socket()) is not None:
                    connection.settimeout(min(self._seconds, left))
                problem: Exception | None = None
                piece: bytes | None = None
                try:
                    piece = next(found, None) if left > 0 else None
                except (urllib3.exceptions.HTTPError, OSError) as error:
                    problem = error
                if time.monotonic() >= self._until:
                    raise Unreachable("the answer has not ended in time", sent=True) from problem
                if problem is not None:
                    raise Unreachable(f"the answer broke off: {_why(problem)}", sent=True) from problem
                if piece is None:
                    return
                yield piece

    def _socket(self) -> socket.socket | None:
        """The connection; that of a response that is read to its end, or that closes it, is not known."""
        return getattr(self._response.connection, "sock", None)

    def body(self) -> bytes:
        """The whole body. Raises Unreachable when it breaks off, or is too slow to wait for."""
        end = time.monotonic() + self._seconds
        found: list[bytes] = []
        for piece in self.pieces():
            found.append(piece)
            end += len(piece) / _SLOWEST
            if time.monotonic() > end:
                slow = f"less than {_SLOWEST >> 10} KiB a second"
                raise Unreachable(
                    f"the answer came too slowly, {slow}: allow more --request-timeout", sent=True
                )
        return b"".join(found)


@contextmanager
def _cut(connection: socket.socket | None, seconds: float) -> Generator[None]:
    """End a connection when the time is over: a server that sends a byte now and then is never silent."""
    import socket

    if connection is None or seconds == math.inf:
        yield
        return

    def shut() -> None:
        # The method of a TLS connection would break what reads beside it. One inside of another has a socket.
        with suppress(OSError):
            socket.socket.shutdown(getattr(connection, "socket", connection), socket.SHUT_RDWR)

    timer = threading.Timer(min(max(0.0, seconds), threading.TIMEOUT_MAX), shut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Transport:
    """Connections to one API server, as one user. Thread-safe."""

    def __init__(self, access: Access) -> None:
        _allow_connections()
        self._access = access
        self._reached = False
        self._lock = threading.Lock()
        self._way = self._load()
        self.host, self.context, self.namespace = self._way.host, self._way.context, self._way.namespace

    def _load(self) -> Way:
        """Read the settings. Raises Misconfigured."""
        from yaml import MarkedYAMLError, YAMLError

        client: Any = import_module("kubernetes.client")  # it has no types before version 37
        config: Any = import_module("kubernetes.config.kube_config")
        configuration = client.Configuration()
        try:
            context, namespace, identity = _settings(self._access, config, configuration)
            if not configuration.verify_ssl:
                unverified()
            pool = pool_of(client.rest, configuration)
        except (AttributeError, TypeError, UnicodeDecodeError) as error:
            # The client raises these for values of unexpected types.
            raise Misconfigured(
                f"the settings of the cluster cannot be read: {_files(self._access)} is not a kubeconfig"
            ) from error
        except (config.ConfigException, YAMLError, OSError, LookupError, ValueError) as error:
            files = str(_ACCOUNT) if _is_inside(self._access) else _files(self._access)
            if isinstance(error, MarkedYAMLError) and (mark := error.problem_mark) is not None:
                error = ValueError(
                    f"its line {mark.line + 1} is not YAML: {error.problem} {error.context or ''}"
                )
            why = _brief(_why(error)).rstrip(".")
            where = "" if files in why else f", in {files}"
            raise Misconfigured(f"the settings of the cluster cannot be read: {why}{where}") from error
        return Way(str(configuration.host).rstrip("/"), pool, configuration, context, namespace, identity)

    @contextmanager
    def open(
        self,
        method: str,
        path: str,
        query: Mapping[str, object] | None = None,
        *,
        body: object = None,
        content: str = "application/json",
        accept: str = "application/json, */*",
        packed: bool = False,
        seconds: float,
        within: float = math.inf,
    ) -> Generator[Answer, None, None]:
        """Send a request; returns the response, whatever its code. `seconds`: how long it may be silent.

        `within`: the seconds in which it has to end. `packed`: it may be compressed. Raises Unreachable, which says
        whether the request may have reached the server.
        """
        import urllib3

        until = time.monotonic() + within
        way = self._way
        headers = self._credentials(way)
        headers.update({"Accept": accept, "User-Agent": "flowdsl"})
        if packed:
            headers["Accept-Encoding"] = "gzip"
        sent = None
        if body is not None:
            headers["Content-Type"] = content
            sent = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        exceptions = urllib3.exceptions
        try:
            response = way.pool.request(
                method,
                way.host + path + (f"?{urlencode(query)}" if query else ""),
                body=sent,
                headers=headers,
                preload_content=False,
                retries=False,
                redirect=False,
                timeout=urllib3.Timeout(connect=seconds, read=seconds, total=min(within, 2 * seconds)),
            )
        except (
            exceptions.NewConnectionError,
            exceptions.ConnectTimeoutError,
            exceptions.ProxyError,
            exceptions.SSLError,
            exceptions.LocationValueError,
        ) as error:
            wrong = isinstance(error, exceptions.LocationValueError) or _untrusted(error)
            lasting = wrong and not self._reached  # later it may be due to the network
            proxy = getattr(way.pool, "proxy", None) if isinstance(error, exceptions.ProxyError) else None
            by = f" through the proxy {proxy._replace(auth=None).url}" if proxy else ""
            raise Unreachable(
                f"{way.host} cannot be reached{by}: {_why(error)}", sent=False, lasting=lasting
            ) from error
        except (exceptions.HTTPError, OSError) as error:
            raise Unreachable(f"{way.host} did not answer: {_why(error)}", sent=True) from error
        self._reached = True
        try:
            yield Answer(response, seconds, until, way)
        finally:
            # A fully read response has returned its connection to the pool; that of any other cannot be reused.
            with suppress(exceptions.HTTPError, OSError):
                response.close()

    def _credentials(self, way: Way) -> Any:
        """The headers that authenticate the user, to which others can be added."""
        several: Any = import_module("urllib3._collections")  # where versions 1 and 2 have it
        headers = several.HTTPHeaderDict()
        with self._lock, _errors():  # only one thread renews an expired token
            settings = way.configuration.auth_settings().values()
        for setting in settings:
            if setting["value"]:
                headers[setting["key"]] = setting["value"]
        for name, value in way.identity:
            headers.add(name, value)
        return headers

    def renew(self, stale: Way) -> None:
        """Reload the settings, unless another thread has: the credentials may have been replaced.

        Raises Unreachable if there are none now, as when their program has no network for a while.
        """
        with self._lock:
            if self._way is stale:
                try:
                    self._way = self._load()
                except Misconfigured as error:
                    raise Unreachable(
                        f"the server takes the credentials no more, and {error}", sent=False
                    ) from error


def pool_of(rest: Any, configuration: Any) -> Any:
    """The connections of a client, through its proxy, else that of the environment, if any. Raises Misconfigured."""
    from urllib.request import getproxies

    from urllib3.exceptions import ProxySchemeUnknown

    if not configuration.proxy:  # not all versions of the packages look for it
        proxies = getproxies()
        configuration.proxy = proxies.get(configuration.host.partition(":")[0])
        configuration.no_proxy = proxies.get("no")
    proxy: str = configuration.proxy or ""
    if proxy and "://" not in proxy:  # source: parseProxy in http/httpproxy/proxy.go of golang.org/x/net
        proxy = configuration.proxy = f"http://{proxy}"
    try:
        pool = rest.RESTClientObject(configuration).pool_manager
    # The client raises the one from version 37 on, urllib3 the other before.
    except (ImportError, ProxySchemeUnknown):
        if proxy.lower().startswith("socks"):
            raise Misconfigured(
                f"the proxy {proxy} speaks SOCKS: pip install --upgrade kubernetes pysocks"
            ) from None
        example = "http://proxy.example.com:3128"
        raise Misconfigured(f"{proxy} is not the address of a proxy: one looks like {example}") from None
    kinds = pool.pool_classes_by_scheme.items()
    pool.pool_classes_by_scheme = {scheme: _beginning_in_time(one) for scheme, one in kinds}
    return pool


def _beginning_in_time(pool: Any) -> Any:
    """The pool class of urllib3 whose timeout is also that of the lines before a body, and not of each byte."""
    kind = pool.ConnectionCls

    def answer(connection: Any, *arguments: Any, **more: Any) -> Any:
        end = time.monotonic() + connection.timeout
        with _cut(connection.sock, connection.timeout):
            found = kind.getresponse(connection, *arguments, **more)
        if time.monotonic() >= end:  # it takes the lines so far for all of them
            found.close()
            raise TimeoutError("timed out")
        return found

    return type(
        pool.__name__, (pool,), {"ConnectionCls": type(kind.__name__, (kind,), {"getresponse": answer})}
    )


def _files(access: Access) -> str:
    """The files of the settings: one, or several as in `$PATH`."""
    return str(access.kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config")


def _exist(files: str) -> bool:
    return any(Path(one).expanduser().exists() for one in files.split(os.pathsep))


def _is_inside(access: Access) -> bool:
    """Whether the settings are those of the pod in which this runs: there are no others."""
    return access.kubeconfig is None and not _exist(_files(access)) and _ACCOUNT.is_dir()


def _settings(access: Access, config: Any, configuration: Any) -> tuple[str, str, Sequence[tuple[str, str]]]:
    """Fill in a configuration; returns the names of the context and the namespace, and headers of the user."""
    files = _files(access)
    if _is_inside(access):
        import_module("kubernetes.config").load_incluster_config(client_configuration=configuration)
        inside = (_ACCOUNT / "namespace").read_text(encoding="utf-8").strip()
        return "", access.namespace or inside or "default", ()
    if not _exist(files):
        raise Unconfigured(
            f"there is no cluster to talk to: no file {files}; name one with $KUBECONFIG, or log in first"
        )
    merged: Any = config.KubeConfigMerger(files).config.value
    contexts = {each.value["name"]: each.value["context"] for each in merged["contexts"]}
    name: str = (merged.get("current-context") if access.context is None else access.context) or ""
    if not name or name not in contexts:
        known = f"it has {', '.join(sorted(contexts))}" if contexts else "it has none"
        if not name:
            error = Misconfigured if contexts else Unconfigured
            raise error(f"{files} names no current context: name one with --context; {known}")
        raise Misconfigured(f"there is no context `{name}` in {files}: {known}")
    named: dict[str, str] = contexts[name] or {}
    cluster, user = (_entry(what, merged, name, named, files) for what in ("cluster", "user"))
    _load_context(name, user, files, config, configuration)
    if proxy := cluster.get("proxy-url"):
        configuration.proxy, configuration.no_proxy = proxy, None  # as the client does from version 37 on
    return name, access.namespace or named.get("namespace") or "default", _impersonated(user)


def _entry(what: str, merged: Any, name: str, named: Mapping[str, str], files: str) -> Mapping[str, Any]:
    """The cluster or the user that a context names. Raises Misconfigured: the client would go on anonymously."""
    for each in merged.get(f"{what}s") or ():
        if each.value["name"] == named.get(what):
            return each.value.get(what) or {}
    if one := named.get(what):
        raise Misconfigured(f"the context `{name}` names the {what} `{one}`, which {files} does not have")
    return {}


def _impersonated(user: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The headers of a user who impersonates another one, which the client does not send.

    Source: client-go, transport/round_trippers.go.
    """
    extra: Mapping[str, Sequence[str]] = user.get("as-user-extra") or {}
    found = [
        *(("Impersonate-User", one) for one in [user.get("as")]),
        *(("Impersonate-Uid", one) for one in [user.get("as-uid")]),
        *(("Impersonate-Group", one) for one in user.get("as-groups") or ()),
        *((f"Impersonate-Extra-{quote(key, safe='')}", one) for key, each in extra.items() for one in each),
    ]
    return [(name, str(value)) for name, value in found if value]


def _lacking(user: Mapping[str, Any], said: str) -> str:
    """Why a user has no credentials: what the client said, or a missing program and the hint how to install it."""
    asked: Mapping[str, Any] = user.get("exec") or {}
    program = str(asked.get("command") or "")
    if not program:
        return said
    if os.sep in program or shutil.which(program):
        return f"`{program}` gave none that can be used: {said.removeprefix('exec: ')}"
    hint = " ".join(str(asked.get("installHint") or "").split())
    return f"there is no program `{program}`, which gives them" + (f": {hint}" if hint else "")


def _load_context(name: str, user: Mapping[str, Any], files: str, config: Any, configuration: Any) -> None:
    """Fill in a configuration for a context.

    If the client cannot get credentials, it only logs that, and goes on anonymously.
    """
    configuration.host = ""
    with _errors() as said:
        config.load_kube_config(
            config_file=files, context=name, client_configuration=configuration, persist_config=False
        )
    if said.errors and not (configuration.api_key or configuration.cert_file):
        why = _lacking(user, "; ".join(said.errors))
        raise Misconfigured(f"there are no credentials for the context `{name}`: {why}")
    if not configuration.host:
        raise Misconfigured(f"the cluster of the context `{name}` has no `server` in {files}")
    if "://" not in configuration.host:  # source: DefaultServerUrlFor in rest/url_utils.go of client-go
        secured = configuration.ssl_ca_cert or configuration.cert_file or not configuration.verify_ssl
        configuration.host = f"{'https' if secured else 'http'}://{configuration.host}"


@contextmanager
def _errors() -> Generator[_Said, None, None]:
    """Collects errors that the client only logs, and would otherwise write to standard error."""
    said = _Said()
    logging.getLogger().addHandler(said)
    try:
        yield said
    finally:
        logging.getLogger().removeHandler(said)


class _Said(logging.Handler):
    """A log handler that collects errors."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.errors: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Collect one record, as one line."""
        self.errors.append(_brief(_NUMBER.sub("", record.getMessage())))


def _allow_connections() -> None:
    """Raise the limit of open files from the usual 256 or 1024: each followed log is a connection.

    Source: programs in Go do so, package `os`, rlimit.go.
    """
    try:
        import resource
    except ImportError:  # not on Windows
        return
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if most == resource.RLIM_INFINITY else min(_FILES, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def unverified() -> None:
    """Suppress warnings about unverified certificates, which the user asked for."""
    import urllib3

    urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)


def _untrusted(error: BaseException) -> bool:
    """Whether a server was reached whose certificate is not trusted."""
    import ssl

    causes = (*error.args, error.__cause__, error.__context__)
    return any(isinstance(one, ssl.SSLCertVerificationError) for one in causes)


def _brief(text: str) -> str:
    """A text as one line without its end if it is long: programs that give credentials may print their usage."""
    words = " ".join(text.split())
    return words if len(words) <= _LONG else f"{words[:_LONG]} ..."


def _why(error: BaseException) -> str:
    """The message of an error, without the objects that urllib3 prepends."""
    error = getattr(error, "original_error", error)  # urllib3 wraps the error of a proxy
    told = error.args[0] if len(error.args) > 1 and isinstance(error.args[0], str) else error
    text = _NUMBER.sub("", " ".join(str(told).split()).rpartition("): ")[2])
    cause = error.__cause__ or error.__context__
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return text.rpartition(">: ")[2].removesuffix('"))').removesuffix("'))") or type(error).__name__
