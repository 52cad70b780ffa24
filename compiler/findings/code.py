"""What can be wrong with packages and code that a step asks for."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class BadRequirement(Finding):
    """A package that pip could not read."""

    code = "FD660"
    title = "`{have}` is not a package requirement"
    label = "expected {expected}, found {found}"
    help = 'write the name and version as for pip: "numpy==2.1", "torch[cuda]>=2,<3"'
    have: str
    expected: str
    found: str


class UnpinnedPackage(Finding):
    """A package whose version may differ in the next run."""

    code = "FD661"
    severity = "warning"
    title = "`{have}` does not name one version"
    label = "two runs may install different ones"
    help = "{way}"
    have: str
    name: str

    def words(self) -> dict[str, str]:
        """The fields, and how to pin the package."""
        way = f'name one: "{self.name}==1.2.3"'
        if "@" in self.have:
            way = f"add a tag or a commit after the address: `{self.have.strip()}@v1.2.3`"
        return {**super().words(), "way": way}


class RepeatedPackage(Finding):
    """One package requested twice."""

    code = "FD662"
    title = "the package `{name}` is requested twice"
    label = "also as `{other}`"
    help = "remove one of them: pip installs a package once"
    name: str
    other: str


class PythonOnly(Finding):
    """Packages or code for a step that is not written in Python."""

    code = "FD663"
    title = "`{option}` means nothing for `{step}`, which is a container step"
    label = "only `@step` has a Python script"
    help = "{way}"
    option: str
    step: str

    def words(self) -> dict[str, str]:
        """The fields, and what a container step does instead."""
        way = "install it in the image"
        if self.option == "code":
            way = "give it a parameter of type `Path`, or mount a volume with `mounts=`"
        return {**super().words(), "way": way}


class UnpinnedRevision(Finding):
    """A revision of a repository that may be another commit tomorrow."""

    code = "FD664"
    severity = "warning"
    title = "{what} is not one revision of the repository"
    label = "two runs may use different code"
    help = 'name a commit in full, or a tag: revision="v1.4.0", or "refs/tags/NAME"'
    what: str


class RelativeImport(Finding):
    """A relative import in the code of a step, in a file that is in no package."""

    code = "FD665"
    title = "`{module}` is relative, and this file is in no package"
    label = "Python would not find it"
    help = "import it by its full name, from the folder that `code=` puts on the import path"
    module: str


class BringsLanguage(Finding):
    """A module of the user's own that a step imports, and that imports flowdsl."""

    code = "FD324"
    severity = "warning"
    title = "`{module}` imports flowdsl, which images of steps do not have"
    label = "{where}"
    help = (
        "move what the step needs into a module that does not import flowdsl; or install it: "
        'packages=["flowdsl==..."]'
    )
    module: str
    importer: str

    def words(self) -> dict[str, str]:
        """The fields, and which module it is that imports flowdsl."""
        own = self.importer == self.module
        return {
            **super().words(),
            "where": "the step would fail here" if own else f"it does in `{self.importer}`",
        }
