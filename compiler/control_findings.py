"""What can be wrong with retries, locks and the tasks that run at the end (FD700 to FD724)."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, suggest


class UnknownPolicy(Finding):
    """A retry policy that Argo does not have."""

    code = "FD700"
    title = "there is no retry policy `{name}`"
    label = "{meant}"
    help = "write one of {known}"
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the policy that was probably meant."""
        meant = suggest(self.name, self.known)
        return {**super().words(), "meant": meant}


class WaitMissing(Finding):
    """A retry whose waits grow from nothing: Argo fails at the first retry without a time to begin with."""

    code = "FD701"
    title = "`{field}` of a Retry without `wait` has nothing to begin with"
    label = "needs `wait`"
    help = 'add `wait=`, the time before the first retry, such as `wait="30s"`'
    field: str


class TwoConditions(Finding):
    """A retry whose condition is said twice."""

    code = "FD702"
    title = "a Retry takes `expression`, or `exit_codes` and `messages`, not both"
    label = "says it a second time"
    help = "put all of it into `expression`, or leave that out"


class NeverRetried(Finding):
    """A retry that says how and never happens, because its limit is 0."""

    code = "FD703"
    title = "a Retry with `limit` 0 never tries again"
    label = "no retry"
    help = "write a limit of at least 1, or leave `retries` out"


class NotALock(Finding):
    """Something among the locks that is none."""

    code = "FD704"
    title = "`locks` takes a list of Mutex and Semaphore, not {have}"
    label = "not a lock"
    help = 'write `locks=[Mutex("name")]`, or `locks=[Semaphore("config-map", "key")]`'
    have: str


class BadLockName(Finding):
    """The name of a lock that Argo or Kubernetes cannot use."""

    code = "FD705"
    title = "{text} cannot be {what}"
    label = "{reason}"
    help = "{way}"
    text: str
    what: str
    reason: str
    way: str


class LockTwice(Finding):
    """A lock that is asked for twice by one template: Argo refuses it when the task is reached."""

    code = "FD706"
    title = "the lock {lock} is asked for twice"
    label = "the same lock again"
    help = "take one of the two out"
    lock: str


class LockInside(Finding):
    """A task that waits for a lock which the pipeline around it holds: neither ever ends."""

    code = "FD707"
    title = "`{inner}` waits for the lock {lock}, which `{outer}` around it holds until it has ended"
    label = "would wait for ever"
    help = "let one of the two hold the lock: the pipeline, or the tasks in it"
    inner: str
    outer: str
    lock: str
