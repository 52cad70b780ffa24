"""The table of Argo's fields and the options that they become.

A row without an answer for what stands in its field leaves it to `argo={...}`, as every field without a row is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from flowdsl.compiler.importing.layout import Code, call, listed, literal, mapped, quoted
from flowdsl.compiler.options import run, schedule
from flowdsl.compiler.tree import entries, inside, is_list, is_mapping
from flowdsl.grammar.devices import VENDORS
from flowdsl.grammar.image import PULL_POLICIES
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.template import is_filled

Json = dict[str, Any]
Said = Callable[[Any], "Code | None"]


class Row(NamedTuple):
    """A field by its path, the option for it, and the conversion; `default` need not be written."""

    path: tuple[str, ...]
    option: str
    say: Said
    default: object = None


def _plain(value: object) -> Code | None:
    return None if has_tags(value) else literal(value)


def has_tags(value: object) -> bool:
    """Whether some text in a value contains tags of Argo."""
    if isinstance(value, str):
        return is_filled(value)
    if is_mapping(value):
        return any(has_tags(part) for pair in value.items() for part in pair)
    return is_list(value) and any(has_tags(one) for one in value)


def _fits(value: object, *keys: str) -> bool:
    """Whether a value is an object without other fields than these, and without tags."""
    return is_mapping(value) and value.keys() <= {*keys} and not has_tags(value)


def _texts(value: object) -> Code | None:
    """A dict of texts."""
    return (
        _plain(value) if is_mapping(value) and all(isinstance(one, str) for one in value.values()) else None
    )


def _seconds(value: object) -> Code | None:
    return _plain(value) if isinstance(value, int) and value > 0 else None


def _time(value: object) -> Code | None:
    """A duration: whole seconds become a number."""
    if isinstance(value, str) and value.isdecimal():
        return value.lstrip("0") or "0"
    return _plain(value)


def _retries(value: Any) -> Code | None:
    if not _fits(value, "limit", "retryPolicy", "backoff", "expression") or "limit" not in value:
        return None
    backoff = inside(value, "backoff")
    if not _fits(backoff, "duration", "factor", "maxDuration", "cap"):
        return None
    policy = value.get("retryPolicy") or ("Always" if "expression" in value else "OnFailure")
    words: dict[str, Code | None] = {
        "policy": None if policy == "Always" else quoted(policy),
        "wait": _time(backoff["duration"]) if "duration" in backoff else None,
        "factor": str(backoff["factor"]) if "factor" in backoff else None,
        "longest": _time(backoff["cap"]) if "cap" in backoff else None,
        "within": _time(backoff["maxDuration"]) if "maxDuration" in backoff else None,
        "expression": quoted(value["expression"]) if "expression" in value else None,
    }
    limit = str(value["limit"])
    if (
        not limit.isdecimal()
        or not int(limit)
        or ("factor" in backoff and not str(backoff["factor"]).isdecimal())
    ):
        return None
    return call("Retry", limit, **words) if any(words.values()) else limit


def _locks(value: Any) -> Code | None:
    if not _fits(value, "mutexes", "semaphores"):
        return None
    found: list[Code] = []
    for mutex in entries(value, "mutexes"):
        if not _fits(mutex, "name", "namespace") or "name" not in mutex:
            return None
        found.append(call("Mutex", quoted(mutex["name"]), namespace=_maybe(mutex.get("namespace"))))
    for semaphore in entries(value, "semaphores"):
        key = inside(semaphore, "configMapKeyRef")
        if not _fits(semaphore, "configMapKeyRef", "namespace") or not _fits(key, "name", "key"):
            return None
        words = quoted(key["name"]), quoted(key["key"])
        found.append(call("Semaphore", *words, namespace=_maybe(semaphore.get("namespace"))))
    return listed(found) if found else None


def _maybe(text: str | None) -> Code | None:
    return None if text is None else quoted(text)


def _tolerations(value: Any) -> Code | None:
    if has_tags(value):
        return None
    found: list[Code] = []
    for one in value:
        if not _fits(one, "key", "operator", "value", "effect") or "key" not in one:
            return None
        exists = one.get("operator") == "Exists"
        if "effect" in one and (exists or "value" in one):
            found.append(quoted(f"{one['key']}{'' if exists else '=' + one['value']}:{one['effect']}"))
        else:
            found.append(literal(one))
    return listed(found)


def _ready(value: Any) -> Code | None:
    if not _fits(value, "httpGet", "tcpSocket", "exec", "initialDelaySeconds", "periodSeconds"):
        return None
    words: dict[str, Code | None] = {}
    get, socket, program = value.get("httpGet"), value.get("tcpSocket"), value.get("exec")
    if get is not None and _fits(get, "path", "port") and isinstance(get.get("port"), int):
        words = {"port": str(get["port"]), "path": quoted(get.get("path", "/"))}
    elif socket is not None and _fits(socket, "port") and isinstance(socket.get("port"), int):
        words = {"port": str(socket["port"])}
    elif program is not None:
        words = {"command": literal(program.get("command", []))}
    else:
        return None
    for word, field in (("delay", "initialDelaySeconds"), ("every", "periodSeconds")):
        if field in value:
            words[word] = str(value[field])
    return call("Ready", **words)


def _names(value: Any) -> Code | None:
    if not all(one and _fits(one, "name") for one in value):
        return None
    names = [one["name"] for one in value]
    return quoted(names[0]) if len(names) == 1 else literal(names)


def _kept(value: Any) -> Code | None:
    """`ttlStrategy`."""
    times = {"secondsAfterSuccess": "success", "secondsAfterFailure": "failure"}
    if _fits(value, "secondsAfterCompletion") and value:
        return str(value["secondsAfterCompletion"])
    return (
        mapped({times[key]: str(one) for key, one in value.items()})
        if _fits(value, *times) and value
        else None
    )


def _user(value: Any) -> Code | None:
    """`securityContext`, if it is exactly what `user=` writes."""
    user = value.get("runAsUser") if is_mapping(value) else None
    wanted: Json = {
        "runAsUser": user,
        "runAsGroup": user,
        "fsGroup": user,
        **({"runAsNonRoot": True} if user else {}),
    }
    return str(user) if user is not None and value == wanted else None


def _stripped(value: str) -> Code | None:
    return _plain(value.strip())


def _flag(value: object) -> Code | None:
    return "True" if value is True else None


def _one_of(choices: Collection[str]) -> Said:
    return lambda value: quoted(value) if value in choices else None


def _schedules(value: Sequence[str]) -> Code:
    return quoted(value[0]) if len(value) == 1 else literal(value)


TEMPLATE = (
    Row(("retryStrategy",), "retries", _retries),
    Row(("timeout",), "timeout", _time),
    Row(("pendingTimeout",), "queue_timeout", _time),
    Row(("synchronization",), "locks", _locks),
    Row(("nodeSelector",), "node", _texts),
    Row(("tolerations",), "tolerations", _tolerations),
    Row(("priorityClassName",), "priority", _plain),
    Row(("serviceAccountName",), "service_account", _plain),
    Row(("metadata", "labels"), "labels", _texts),
    Row(("metadata", "annotations"), "annotations", _texts),
)
"""Fields of a template."""

CONTAINER = (
    Row(("workingDir",), "workdir", _plain),
    Row(("imagePullPolicy",), "image_pull_policy", _one_of(PULL_POLICIES)),
)
"""Fields of the container or script of a template."""

DAEMON = Row(("readinessProbe",), "ready", _ready)

RESOURCE = (
    Row(("successCondition",), "success", _stripped),
    Row(("failureCondition",), "failure", _stripped),
    Row(("mergeStrategy",), "merge", _stripped),
    Row(("flags",), "flags", _plain),
    Row(("setOwnerReference",), "owner", _flag),
)
"""Fields of a `resource` template."""

REQUEST = (
    Row(("successCondition",), "success", _plain),
    Row(("timeoutSeconds",), "timeout", _plain),
    Row(("insecureSkipVerify",), "insecure", _flag),
)
"""What is said of a request besides what is sent."""

GATE = (Row(("duration",), "duration", _time),)

SPEC = (
    Row(("parallelism",), "parallelism", _seconds),
    Row(("activeDeadlineSeconds",), "timeout", _seconds),
    Row(("ttlStrategy",), "ttl", _kept),
    Row(("podPriorityClassName",), "priority", _plain),
    Row(("serviceAccountName",), "service_account", _plain),
    Row(("synchronization",), "locks", _locks),
    Row(("suspend",), "suspend", _flag),
    Row(("podMetadata", "labels"), "pod_labels", _texts),
    Row(("podMetadata", "annotations"), "pod_annotations", _texts),
    Row(("imagePullSecrets",), "image_pull_secrets", _names),
    Row(("securityContext",), "user", _user),
    Row(("podGC", "strategy"), "pod_gc", _one_of(run.STRATEGIES)),
    Row(("archiveLogs",), "archive_logs", _flag),
)
"""Fields of the spec of a run."""

METADATA = (
    Row(("labels",), "labels", _texts),
    Row(("annotations",), "annotations", _texts),
)
"""Fields of an object."""

CRON = (
    Row(("schedules",), "schedule", _schedules),
    Row(("schedule",), "schedule", _plain),
    Row(("timezone",), "timezone", _plain),
    Row(("concurrencyPolicy",), "concurrency", _one_of(schedule.POLICIES)),
    Row(("startingDeadlineSeconds",), "starting_deadline", _seconds),
    Row(("successfulJobsHistoryLimit",), "keep_succeeded", _plain),
    Row(("failedJobsHistoryLimit",), "keep_failed", _plain),
    Row(("suspend",), "suspend", _flag),
)
"""Fields of a CronWorkflow."""


def say(rows: Sequence[Row], fields: Json, options: dict[str, Code]) -> None:
    """Say what rows have a word for as options, and take it out of the fields."""
    for row in rows:
        holder: Any = fields
        for key in row.path[:-1]:
            holder = holder.get(key) if is_mapping(holder) else None
        last = row.path[-1]
        if not is_mapping(holder) or holder.get(last) is None or row.option in options:
            continue
        code = row.say(holder[last])
        if code is not None:
            options[row.option] = code
            del holder[last]
    for row in rows:
        if len(row.path) > 1 and fields.get(row.path[0]) == {}:
            del fields[row.path[0]]


def resources(asked: Json, options: dict[str, Code]) -> None:
    """Say CPU, memory and devices as options, and take them out of `resources`.

    The option of memory is request and limit at once, which a limit alone is too; another request stays.
    """
    requests, limits = inside(asked, "requests"), inside(asked, "limits")
    if has_tags(asked):
        return
    if "memory" in limits:
        options["memory"] = literal(memory := limits.pop("memory"))
        if requests.get("memory") == memory:
            del requests["memory"]
    if "cpu" in requests:
        amount = str(requests.pop("cpu"))
        options["cpu"] = amount if amount.replace(".", "", 1).isdecimal() else quoted(amount)
    for vendor, name in VENDORS.items():
        count = limits.get(name)
        if count is not None and str(count).isdecimal() and requests.get(name, count) == count:
            limits.pop(name)
            requests.pop(name, None)
            options["gpu"] = (
                str(count) if vendor == "nvidia" else call("GPU", str(count), vendor=quoted(vendor))
            )
            break
    for key in ("requests", "limits"):
        if not asked.get(key):
            asked.pop(key, None)
