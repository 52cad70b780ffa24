"""What can be wrong with the profile of a cluster (FD675 to FD677)."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, suggest


class UnknownSetting(Finding):
    """A key that a profile does not have."""

    code = "FD675"
    title = "{file}: there is no `{key}` in [{table}]"
    label = "{meant}"
    help = "{meant}"
    file: str
    table: str
    key: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the key that was probably meant."""
        return {**super().words(), "meant": suggest(self.key, self.known)}


class BadSetting(Finding):
    """A value that a key of a profile cannot have."""

    code = "FD676"
    title = "{file}: `{key}` in [{table}] must be {want}, not {have}"
    help = "write {example}"
    file: str
    table: str
    key: str
    want: str
    have: str
    example: str


class UnknownCluster(Finding):
    """A cluster without a profile."""

    code = "FD677"
    title = "there is no cluster `{name}` in {file}"
    label = "{meant}"
    help = "{way}"
    file: str
    name: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the cluster that was probably meant."""
        meant = suggest(self.name, self.known)
        way = meant or f"describe it: [clusters.{self.name}] in the flowdsl.toml of the project"
        return {**super().words(), "meant": meant, "way": way}
