"""What can be wrong with the object around a pipeline: its schedule, its kind, its name."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, near


class BadSchedule(Finding):
    """A schedule that Argo cannot read, or that never comes."""

    code = "FD725"
    title = "the schedule `{have}` cannot be used"
    label = "{reason}"
    help = 'for example schedule="0 3 * * *", every day at three, or schedule="@hourly"'
    have: str
    reason: str


class UnknownZone(Finding):
    """A time zone that does not exist."""

    code = "FD726"
    title = "there is no time zone `{have}`"
    label = "{meant}"
    help = 'write a name of the time zone database: timezone="Europe/Berlin", or timezone="UTC"'
    have: str

    def words(self) -> dict[str, str]:
        """The fields, and the zone that was probably meant."""
        from zoneinfo import available_timezones

        zones = sorted(available_timezones())
        close = next((zone for zone in zones if zone.lower().endswith(f"/{self.have.lower()}")), None)
        close = close or near(self.have, zones)
        return {**super().words(), "meant": f"did you mean `{close}`?" if close else "not in the database"}


class UnknownWord(Finding):
    """A word that an option does not know."""

    code = "FD727"
    title = "{name} cannot be `{have}`"
    label = "{meant}"
    help = "write {choices}"
    name: str
    have: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, the words there are, and the one that was probably meant."""
        close = near(self.have, self.known)
        choices = " or ".join(
            filter(None, (", ".join(f"`{one}`" for one in self.known[:-1]), f"`{self.known[-1]}`"))
        )
        meant = f"did you mean `{close}`?" if close else "not known"
        return {**super().words(), "meant": meant, "choices": choices}


class WithoutSchedule(Finding):
    """An option for schedules on a pipeline without one."""

    code = "FD728"
    title = "`{name}` means nothing without `schedule`"
    label = "for schedules only"
    help = 'add a schedule such as schedule="0 3 * * *", or leave `{name}` out'
    name: str


class NoSchedule(Finding):
    """A pipeline without a schedule that is compiled to a CronWorkflow."""

    code = "FD729"
    title = "`{pipeline}` has no schedule, but a CronWorkflow needs one"
    label = "no `schedule`"
    help = 'write @pipeline(schedule="0 3 * * *"), or compile it without `--as cron`'
    pipeline: str


class ScheduledWithout(Finding):
    """A parameter without a default in a pipeline with a schedule."""

    code = "FD730"
    title = "nothing gives `{name}` to the runs that a schedule starts"
    label = "needs a default"
    help = "give `{name}` a default, or compile `{pipeline}` with `--as template` and start its runs with arguments"
    name: str
    pipeline: str


class SameObject(Finding):
    """Two pipelines of one file that would be one object of the cluster."""

    code = "FD731"
    title = "two pipelines are the {kind} `{name}`"
    label = "the same name again"
    help = 'rename one of them: @pipeline(name="...")'
    kind: str
    name: str


class ReservedKey(Finding):
    """A label or annotation that Argo or flowdsl writes."""

    code = "FD732"
    title = "`{key}` is written by {owner}"
    label = "the runs could no longer be found by it"
    help = "use a key of your own, such as `example.com/{short}`"
    key: str
    owner: str

    def words(self) -> dict[str, str]:
        """The fields, and the key without its domain."""
        return {**super().words(), "short": self.key.rpartition("/")[2]}


class OwnField(Finding):
    """A patch of what flowdsl writes itself."""

    code = "FD733"
    title = "`{field}` cannot be patched"
    label = "{what}"
    help = "{way}"
    field: str
    by: str

    def words(self) -> dict[str, str]:
        """The field, and what decides it in the language."""
        what, way = (
            "something stands there already",
            "change what wrote it; what is added to a list needs a name of its own",
        )
        if self.by:
            what, way = "flowdsl writes it", f"leave it out: it comes from {self.by}"
        return {**super().words(), "what": what, "way": way}


class TemplateElsewhere(Finding):
    """A patch of a template that the cluster has."""

    code = "FD736"
    title = "`{field}` cannot be patched: the template of `{step}` is in the cluster"
    label = "a field of a template that only the cluster has"
    help = (
        'leave it out, or change that template; fields of the task are patched with argo={{"task": {{...}}}}'
    )
    field: str
    step: str


class NotJson(Finding):
    """A part of a patch that YAML cannot express."""

    code = "FD734"
    title = "`argo` holds {have}"
    label = "not JSON"
    help = "write dicts with strings as keys, lists, strings, numbers, True, False and None"
    have: str


class UnknownRights(Finding):
    """A step whose permissions cannot be read off its manifest."""

    code = "FD735"
    severity = "warning"
    title = "`--with-rbac` does not know which permissions `{template}` needs"
    label = "{reason}"
    help = "grant them in a Role of your own, bound to the account of the step"
    template: str
    reason: str
