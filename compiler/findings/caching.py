"""What can be wrong with caching."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class NothingToCache(Finding):
    """A step without results that is to be cached."""

    code = "FD666"
    title = "`{step}` {why}, so there is no result to keep"
    label = "a run that skipped it would only miss what it does"
    help = "leave `cache` out, or let a step return what is worth keeping"
    step: str
    why: str


class UnknownCode(Finding):
    """A cached step whose own modules may change without a change of its key."""

    code = "FD667"
    title = "the key of `{step}` does not see changes in its modules"
    label = "{what}"
    help = '{way}; or use a salt for their state: cache=Cache(salt="2024-06")'
    step: str
    where: str  # "volume" or "revision"

    def words(self) -> dict[str, str]:
        """The fields, and why."""
        what, way = "only the folder on the volume is known", "use Git(url, revision=...)"
        if self.where == "revision":
            what, way = "the revision may be another commit tomorrow", "name a commit or a tag"
        return {**super().words(), "what": what, "way": way}


class KnownByPath(Finding):
    """A cached step that reads files on a volume: its key has only their path."""

    code = "FD668"
    severity = "warning"
    title = "the key of `{step}` has the path of `{what}`, not its content"
    label = "other files at the same path would give the old result"
    help = 'put a version into the path, or use a salt for the files: cache=Cache(salt="2024-06")'
    step: str
    what: str


class KnownByName(Finding):
    """A cached step that reads a variable from a ConfigMap: its key has only the name."""

    code = "FD788"
    severity = "warning"
    title = "the key of `{step}` has the name of {what}, not its value"
    label = "another value would give the old result"
    help = 'pass the value as an argument, or use a salt for it: cache=Cache(salt="2024-06")'
    step: str
    what: str


class KnownByKey(Finding):
    """A cached step that takes a file whose digest is not known."""

    code = "FD669"
    severity = "warning"
    title = "`{step}` finds no earlier result: the content of `{parameter}` is not known"
    label = "{why}, so the file of every run counts as new"
    help = "{way}"
    step: str
    parameter: str
    why: str
    of: str = "file"  # what it is: one file, an item of a list, or the results of a loop

    def words(self) -> dict[str, str]:
        """The fields, and the way out."""
        way = {
            "file": "also cache the step that makes the file, or make it in a Python step",
            "item": "also cache the step that makes the list",
            "results": "let one Python step make the file of each round, and let the loop's pipeline return that",
        }[self.of]
        return {**super().words(), "way": way}


class GatheredCache(Finding):
    """The files of a cached loop, gathered as one folder."""

    code = "FD670"
    title = "the files of `{step}` cannot be gathered while it is cached"
    label = "those of earlier runs are in the folders of those runs"
    help = (
        "call `{step}` for each in Python's own `for`, if the items are known now; or gather values, or take one file: "
        "`.best`, or an item by its number; else cache=False on `{step}`"
    )
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
    """A cached step whose image may change without a change of its key."""

    code = "FD672"
    severity = "warning"
    title = "the key of `{step}` has the name of its image, which can move"
    label = "`{image}` is whatever was pushed last"
    help = "name a version: `{name}:1.2`, or a digest: `{name}@sha256:...`"
    step: str
    image: str

    def words(self) -> dict[str, str]:
        """The fields, and the image without its tag."""
        return {**super().words(), "name": self.image.removesuffix(":latest")}


class RunInKey(Finding):
    """A cached step that is given something unique to its run."""

    code = "FD673"
    severity = "warning"
    title = "`{step}` finds no earlier result: `{parameter}` differs in every run"
    label = "made of `run.{field}`"
    help = "give the step something that stays the same, or leave `cache` out"
    step: str
    parameter: str
    field: str


class CachedOnVolume(Finding):
    """A cached step whose files are in the folder of one run, on a volume."""

    code = "FD674"
    title = "the files of `{step}` are in a folder of the run, so a later run cannot take them from the cache"
    label = "cached, but kept on the volume `{volume}`"
    help = "keep them in the artifact repository: `store=None`; or leave `cache` out"
    step: str
    volume: str
