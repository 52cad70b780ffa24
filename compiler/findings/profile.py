"""What can be wrong with the settings of a project, and the profile of a cluster in them."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, suggest


class UnknownSetting(Finding):
    """A key that the settings, or the profile of a cluster, do not have."""

    code = "FD675"
    title = "there is no `{key}` in {where}"
    label = "{meant}"
    help = "{meant}"
    table: str
    key: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the key that was probably meant."""
        meant = suggest(self.key, self.known)
        if self.key == "tool" and not self.table:
            meant = "tables of flowdsl.toml begin without `tool.flowdsl`, as [clusters.NAME]"
        return {**super().words(), "where": _shown(self.table), "meant": meant}


class BadSetting(Finding):
    """A value that a key of the settings, or of the profile of a cluster, cannot have."""

    code = "FD676"
    title = "`{key}` in {where} must be {want}, not {have}"
    help = "write {example}"
    table: str
    key: str
    want: str
    have: str
    example: str

    def words(self) -> dict[str, str]:
        """The fields, and the table as it is written."""
        return {**super().words(), "where": _shown(self.table)}


def _shown(table: str) -> str:
    return f"[{table}]" if table else "the settings"


class OwnShortName(Finding):
    """A short name for a label that is nearly one of the usual ones."""

    code = "FD874"
    severity = "warning"
    title = "`{key}` in [{table}] is a name of your own"
    label = "did you mean `{meant}`?"
    help = (
        "write `{meant}`, for which flowdsl has another label; if `{key}` is a name of your own, ignore this"
    )
    table: str
    key: str
    meant: str


class UnknownCluster(Finding):
    """A cluster without a profile."""

    code = "FD677"
    title = "there is no cluster `{name}`{where}"
    label = "{meant}"
    help = "{way}"
    file: str
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, where was looked, and the cluster that was probably meant."""
        meant = suggest(self.name, self.known)
        where = f" in {self.file}"
        if not self.file.endswith(".toml"):
            where = f": there is no flowdsl.toml in `{self.file}`, nor above it"
        way = meant or f"describe it: [clusters.{self.name}] in the flowdsl.toml of the project"
        return {**super().words(), "where": where, "meant": meant, "way": way}


class UnreadableSettings(Finding):
    """A settings file that is not valid TOML."""

    code = "FD699"
    title = "the settings cannot be read: {reason}"
    help = "{way}"
    reason: str
    way: str
