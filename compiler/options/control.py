"""How often and how long a template may run, and what it waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast, get_args

from flowdsl.compiler import ir
from flowdsl.compiler.expressions import literal
from flowdsl.compiler.findings import control as findings
from flowdsl.compiler.findings.options import OptionType, RunTimeOption
from flowdsl.compiler.options.reading import (
    Parts,
    Wrong,
    each,
    flag,
    period,
    said,
    seconds,
    text_option,
    whole,
)
from flowdsl.grammar.names import is_data_key, is_dns_label, is_dns_subdomain
from flowdsl.retry import Mutex, Policy, Retry, Semaphore
from flowdsl.run import AT_THE_END
from flowdsl.tracing.trace import parts
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Join, RunField
from flowdsl.values.later import of_run
from flowdsl.values.value import expr_of, is_value

if TYPE_CHECKING:
    from flowdsl.compiler.options.reading import Reader

_POLICIES: tuple[str, ...] = get_args(Policy)


# --- retries --------------------------------------------------------------------------------------


def retries(name: str, written: object) -> ir.Retry:
    """How a failed task is retried: a number, or a `Retry`."""
    if not isinstance(written, Retry):
        if isinstance(written, (int, float)):
            return ir.Retry(whole(name, written, 0))
        raise Wrong(OptionType(name, "a whole number of at least 0, or a Retry", said(written)))
    parts = Parts()
    limit = parts.read("limit", _limit, written.limit)
    policy = parts.read("policy", _policy, written.policy)
    times: dict[str, str | None] = {}
    for field in ("wait", "longest", "within"):
        given = getattr(written, field)
        times[field] = None if given is None else parts.read(field, period, f"{field} of Retry", given)
    factor = written.factor
    if factor is not None:
        factor = parts.read("factor", whole, "factor of Retry", factor, 1)
    if written.wait is None:
        for field, read in {**times, "factor": factor}.items():
            if read is not None:  # and it is valid
                parts.add(field, findings.WaitMissing(field))
    elif times["wait"] and times["longest"]:
        wait, longest = seconds("wait", written.wait), seconds("longest", written.longest)
        if longest < wait:
            parts.add("longest", findings.LongestShort(str(written.longest), str(written.wait)))
    elsewhere = parts.read("elsewhere", flag, "elsewhere of Retry", written.elsewhere)
    condition = _condition(written, parts)
    parts.end()
    assert limit is not None
    assert policy is not None
    assert elsewhere is not None
    return ir.Retry(
        limit, policy, times["wait"], factor, times["longest"], times["within"], condition, elsewhere
    )


def _limit(written: object) -> int:
    limit = whole("limit of Retry", written, 0)
    if limit == 0:
        raise Wrong(findings.NeverRetried())
    return limit


def _policy(written: object) -> str:
    if not isinstance(written, str) or written not in _POLICIES:
        raise Wrong(findings.UnknownPolicy(said(written).strip("'\""), _POLICIES))
    return written


BY_CODE = "asInt(lastRetry.exitCode) in ["
"""The beginning of the expression for `exit_codes`."""


def _condition(retry: Retry, parts: Parts) -> str | None:
    """The expression that decides whether to retry, in Argo's language."""
    codes = parts.read("exit_codes", _codes, retry.exit_codes) or []
    messages = parts.read("messages", _messages, retry.messages) or []
    choices = [f"lastRetry.message contains {literal(text)}" for text in messages]
    if codes:
        choices.insert(0, f"{BY_CODE}{', '.join(map(str, codes))}]")
    if retry.expression is None:
        return " || ".join(choices) or None
    if choices:
        parts.add("expression", findings.TwoConditions())
    return parts.read("expression", text_option, "expression of Retry", retry.expression)


def _codes(written: object) -> list[int]:
    return [_code(one) for one in _list("exit_codes", written)]


def _code(written: object) -> int:
    return whole("exit_codes of Retry", written, 1, 255, want="whole numbers from 1 to 255")


def _messages(written: object) -> list[str]:
    return [text_option("messages of Retry", one) for one in _list("messages", written)]


def _list(field: str, written: object) -> list[object]:
    if isinstance(written, (list, tuple, set, frozenset, range)):
        return list(cast("list[object]", written))
    raise Wrong(OptionType(f"{field} of Retry", "a list", said(written)))


# --- locks ----------------------------------------------------------------------------------------


def locks(name: str, written: object) -> tuple[ir.Lock, ...]:
    """What is acquired and then held: mutexes and semaphores."""
    if not isinstance(written, (list, tuple)):
        raise Wrong(findings.NotALock(said(written)))
    found: list[ir.Lock] = []

    def read(one: object) -> ir.Lock:
        if not isinstance(one, (Mutex, Semaphore)):
            raise Wrong(findings.NotALock(said(one)))
        lock = _lock(one)
        if lock in found:
            raise Wrong(findings.LockTwice(lock_said(lock)))
        found.append(lock)
        return lock

    return each(cast("list[object]", written), read)


def _lock(lock: Mutex | Semaphore) -> ir.Lock:
    namespace = cast("object", lock.namespace)
    if namespace is not None and not (isinstance(namespace, str) and is_dns_label(namespace)):
        way = "write the name of a namespace"
        wrong = findings.BadLockName(said(namespace), "a namespace", "Kubernetes refuses the name", way)
        raise Wrong(wrong)
    if isinstance(lock, Mutex):
        return ir.Lock(_lock_name(lock.name), None, lock.namespace)
    for text, what in ((lock.name, "the name of a ConfigMap"), (lock.key, "a key of a ConfigMap")):
        right = isinstance(cast("object", text), str) and is_data_key(text)
        if not right or (text is lock.name and not is_dns_subdomain(text)):
            way = "write it as it is in the cluster"
            raise Wrong(findings.BadLockName(said(text), what, "Kubernetes refuses it", way))
    return ir.Lock(Const(lock.name, t.TEXT), lock.key, lock.namespace)


def _lock_name(written: object) -> Const | Join:
    """The name of a mutex, which may contain fields of the run. Argo splits the key of a lock at `/`."""
    pieces = (
        (expr_of(written),) if is_value(written) else parts(written, None) if isinstance(written, str) else ()
    )
    fixed = [piece for piece in pieces if isinstance(piece, str)]
    for piece in pieces:
        if (
            of_run(piece)
            or not isinstance(piece, (str, RunField))
            or getattr(piece, "name", "") in AT_THE_END
        ):
            raise Wrong(RunTimeOption("name of Mutex"))
    for piece in fixed:
        text_option("name of Mutex", piece if piece.strip() else "x")
    if not pieces or any("/" in piece or not piece.isprintable() for piece in fixed):
        way = "write a string without `/`; `run.name` and other fields of the run may be part of it"
        reason = "Argo would take it apart" if "/" in str(written) else "no text for a name"
        wrong = findings.BadLockName(said(written), "the name of a mutex", reason, way)
        raise Wrong(wrong)
    return Const(fixed[0], t.TEXT) if len(fixed) == len(pieces) else Join(pieces)


def lock_said(lock: ir.Lock) -> str:
    """A lock for a message."""
    pieces = lock.name.parts if isinstance(lock.name, Join) else (str(getattr(lock.name, "value", "")),)
    text = "".join(
        piece if isinstance(piece, str) else f"{{run.{getattr(piece, 'name', '')}}}" for piece in pieces
    )
    key = "" if lock.key is None else f"/{lock.key}"
    return f"`{text}{key}`"


READERS: dict[str, Reader] = {
    "retries": retries,
    "timeout": period,
    "queue_timeout": period,
    "locks": locks,
}
