"""What can be wrong with retries, locks and the tasks that run at the end."""

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
    """A retry with growing waits but no first wait: Argo fails at the first retry."""

    code = "FD701"
    title = "`{field}` of a Retry without `wait` has no effect"
    label = "needs `wait`"
    help = 'add `wait=`, the time before the first retry, such as `wait="30s"`'
    field: str


class LongestShort(Finding):
    """A retry whose first wait is longer than its longest one."""

    code = "FD883"
    title = "`longest` of a Retry is {longest}, and its first wait {wait}"
    label = "every wait would be that long, and `wait` and `factor` mean nothing"
    help = (
        'make `longest` longer than `wait`, as in `Retry(5, wait="10s", factor=2, longest="1m")`; or leave '
        "it out"
    )
    longest: str
    wait: str


class TwoConditions(Finding):
    """A retry whose condition is given twice."""

    code = "FD702"
    title = "a Retry takes `expression`, or `exit_codes` and `messages`, not both"
    label = "gives it a second time"
    help = "put all of it into `expression`, or leave that out"


class NeverRetried(Finding):
    """A retry that never happens, because its limit is 0."""

    code = "FD703"
    title = "a Retry with `limit` 0 never retries"
    label = "no retry"
    help = "write a limit of at least 1, or leave `retries` out"


class NotALock(Finding):
    """An entry of `locks` that is not a lock."""

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
    """A lock that one template takes twice: Argo refuses it when the task is reached."""

    code = "FD706"
    title = "the lock {lock} is taken twice"
    label = "the same lock again"
    help = "remove one of the two"
    lock: str


class LockInside(Finding):
    """A task that waits for a lock which the pipeline around it holds: neither ever ends."""

    code = "FD707"
    title = "`{inner}` waits for the lock {lock}, which {outer} around it holds until it ends"
    label = "would wait forever"
    help = "let only one of them hold the lock: the pipeline, or the tasks in it"
    inner: str
    outer: str
    lock: str


class EndsInALargeGraph(Finding):
    """Tasks that run when another has ended, in a graph that is too large for one DAG."""

    code = "FD708"
    title = (
        "this runs when another task has ended, in a pipeline of {count} tasks: at most {limit} are "
        "possible for that"
    )
    label = "cannot be told apart in nested graphs"
    help = "move the task, and what runs when it has ended, into their own pipeline, and call that"
    count: int
    limit: int


class OutputAtTheEnd(Finding):
    """An output of a task used among the tasks that run when the run has ended."""

    code = "FD714"
    title = "the result of `{task}` is not known after the end of the run: Argo passes no outputs there"
    label = "made by a task of the run"
    help = (
        "use `with on_exit(...)` of that result, or store it where a step of this block finds it by "
        "`run.name`"
    )
    task: str


class MadeAtTheEnd(Finding):
    """A value made when the run has ended, used in the run."""

    code = "FD715"
    title = "`{task}` runs when the run has ended, but its result is used before that"
    label = "made only after the run"
    help = "use it in a block of `on_exit()` or `on_failure()`"
    task: str


class NothingAtTheEnd(Finding):
    """A block for the end of a run without a task."""

    code = "FD716"
    title = "no task is called for the end of the run"
    label = "nothing to run"
    help = "call a step in this block, or remove it"


class MayHaveFailed(Finding):
    """A result of a task that may have failed."""

    code = "FD717"
    title = "`{task}` may have failed, and then its result is not there"
    label = "not there if `{task}` failed"
    help = "{way}"
    task: str
    way: str = "say what to take then: `either(value, other)`"


class NotEndedHere(Finding):
    """How a task ended, asked for where that is not known."""

    code = "FD718"
    title = "how `{task}` ended is known only in the block that waits for it"
    label = "used outside of its block"
    help = "use it inside the `with` block that gave it"
    task: str


class NotYetKnown(Finding):
    """What a run knows of itself only when it has ended, used before that."""

    code = "FD719"
    title = "`run.{field}` is known only when the run has ended"
    label = "the run has not ended yet"
    help = "pass it as an argument in a block of `on_exit()` or `on_failure()`"
    field: str


class OfARun(Finding):
    """An option that applies only to a pipeline's own runs, on one that another pipeline calls."""

    code = "FD381"
    severity = "warning"
    title = "the `{option}` of `{part}` does not apply where `{whole}` calls it"
    label = "it is for a whole run, and this is part of one"
    help = "{way}"
    option: str
    part: str
    whole: str

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        way = f"set it on `{self.whole}`, or on the steps: Argo has it for a run and for a pod, not for a part of a run"
        if self.option in ("user", "image_pull_secrets", "argo"):
            way = f"set it on `{self.whole}`: Argo has it for a whole run"
        return {**super().words(), "way": way}
