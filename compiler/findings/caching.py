"""What can be wrong with caching."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class NothingToCache(Finding):
    """A step without results that is to be cached."""

    code = "FD666"
    title = "`{step}` returns nothing, so there is no result to keep"
    label = "a run that left it out would only miss what it does"
    help = "leave `cache` out, or return what is worth keeping"
    step: str


class UnknownCode(Finding):
    """A cached step whose own modules may change without its key changing."""

    code = "FD667"
    title = "the key of `{step}` cannot see a change of its modules"
    label = "{what}"
    help = '{way}; or let a salt stand for their state: cache=Cache(salt="2024-06")'
    step: str
    where: str  # "volume" or "revision"

    def words(self) -> dict[str, str]:
        """The fields, and why."""
        what, way = "only the folder on the volume is known", "use Git(url, revision=...)"
        if self.where == "revision":
            what, way = "the revision may be another commit tomorrow", "name a commit or a tag"
        return {**super().words(), "what": what, "way": way}


class KnownByPath(Finding):
    """A cached step that reads files of a volume: only their path is part of its key."""

    code = "FD668"
    severity = "warning"
    title = "the key of `{step}` has the path of `{what}`, not what lies there"
    label = "other files at the same path would give the old result"
    help = 'put a version into the path, or let a salt stand for the files: cache=Cache(salt="2024-06")'
    step: str
    what: str


class KnownByName(Finding):
    """A cached step that reads a variable from a ConfigMap: only its name is part of the key."""

    code = "FD788"
    severity = "warning"
    title = "the key of `{step}` has the name of {what}, not its value"
    label = "another value would give the old result"
    help = 'hand the value on as an argument, or let a salt stand for it: cache=Cache(salt="2024-06")'
    step: str
    what: str


class KnownByKey(Finding):
    """A cached step that takes a file of which nobody knows a digest."""

    code = "FD669"
    severity = "warning"
    title = "`{step}` finds no earlier result: the content of `{parameter}` is not known"
    label = "{why}, so the file of every run counts as new"
    help = "cache the step that makes the file, too; or make it in a step of Python"
    step: str
    parameter: str
    why: str


class GatheredCache(Finding):
    """The files of a cached loop, gathered as one folder."""

    code = "FD670"
    title = "the files of `{step}` cannot be gathered while it is cached"
    label = "those of earlier runs lie in the folders of their runs"
    help = "gather values, or take one file: `.best`, or an item by its number; else cache=False on `{step}`"
    step: str


class CacheTooLarge(Finding):
    """A cached loop whose results do not fit into a ConfigMap."""

    code = "FD671"
    title = "the cache of `{step}` would hold {count} results, about {size} KiB"
    label = "a ConfigMap holds 1024 KiB, and the step fails when it is full"
    help = "cache fewer items, or a step after the loop instead"
    step: str
    count: int
    size: int


class MovingImage(Finding):
    """A cached step whose image may change without its key changing."""

    code = "FD672"
    severity = "warning"
    title = "the key of `{step}` has the name of its image, which moves"
    label = "`{image}` is whatever was pushed last"
    help = "say which version: `{name}:1.2`, or a digest: `{name}@sha256:...`"
    step: str
    image: str

    def words(self) -> dict[str, str]:
        """The fields, and the image without its tag."""
        return {**super().words(), "name": self.image.removesuffix(":latest")}


class RunInKey(Finding):
    """A cached step that is given what only its run has."""

    code = "FD673"
    severity = "warning"
    title = "`{step}` finds no earlier result: `{parameter}` is another value in every run"
    label = "made of `run.{field}`"
    help = "give the step what stays the same, or leave `cache` out"
    step: str
    parameter: str
    field: str


class RetriedCache(Finding):
    """A cached step that is retried, with tasks that wait for it alone."""

    code = "FD326"
    title = (
        "a run that finds the result of `{step}` in the cache never ends: `{task}` waits for it, and it "
        "has retries"
    )
    label = "Argo forgets what waits only for cached results with retries"
    help = (
        "call `{step}` in a graph of its own, and move the retries there: in Python a pipeline with "
        ".options(retries=...), in YAML a template with `dag`"
    )
    step: str
    task: str


class CachedOnVolume(Finding):
    """A cached step whose files lie in the folder of one run, on a volume."""

    code = "FD674"
    title = "the files of `{step}` lie in a folder of the run, so a later run cannot take them from the cache"
    label = "cached, and kept on the volume `{volume}`"
    help = "keep them in the artifact repository: `store=None`; or leave `cache` out"
    step: str
    volume: str
