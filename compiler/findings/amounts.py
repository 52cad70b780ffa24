"""What can be wrong with amounts, times and devices."""

from __future__ import annotations

from typing import ClassVar

from flowdsl.compiler.findings.options import EXAMPLES
from flowdsl.diagnostic import Finding, Unknown


class _Unreadable(Finding):
    title = "`{name}` cannot be `{have}`"
    label = "expected {expected}"
    help = "for example {example}"
    usual: ClassVar[str]
    name: str
    have: str
    expected: str

    def words(self) -> dict[str, str]:
        """The fields, and an example of the option."""
        return {**super().words(), "example": EXAMPLES.get(self.name, f'{self.name}="{self.usual}"')}


class BadQuantity(_Unreadable):
    """An amount that Kubernetes does not read."""

    code = "FD273"
    usual = "8Gi"


class BadDuration(_Unreadable):
    """A time that Argo does not read."""

    code = "FD274"
    usual = "90s"


class BadGpuCount(Finding):
    """A number of GPUs that no node can give."""

    code = "FD275"
    title = "a step cannot ask for {have} GPUs"
    label = "GPUs come in whole numbers"
    help = (
        'write 0, 1, 2 ...; a product is `GPU(1, product="NVIDIA-A100-SXM4-40GB")`, '
        'and a part of a card `GPU(1, mig="1g.5gb")`'
    )
    have: str


class UnknownVendor(Unknown):
    """A vendor of GPUs that flowdsl does not know."""

    code = "FD276"
    title = "the vendor `{name}` is not known"
    help = 'use a known vendor, or name the resource: GPU(1, resource="example.com/gpu")'


class BadGpuResource(Finding):
    """The name of an extended resource without its domain."""

    code = "FD277"
    title = "`{have}` is not an extended resource: it has no domain"
    label = "Kubernetes refuses the name"
    help = 'write it in full, as in "nvidia.com/gpu"'
    have: str


class MigVendor(Finding):
    """A MIG profile of something that has no MIG."""

    code = "FD278"
    title = "`mig` is a partition of an NVIDIA GPU"
    label = "cannot be combined with `resource` or another vendor"
    help = 'ask for the partition alone: GPU(1, mig="1g.5gb")'


class UnusualResource(Finding):
    """The name of a device that is nearly a usual one."""

    code = "FD341"
    severity = "warning"
    title = "`{have}` is nearly the name of a usual device"
    label = "did you mean `{close}`?"
    help = "a pod that asks for a device that no node has waits forever: correct the name"
    have: str
    close: str


class SharedCount(Finding):
    """Several shares of GPUs."""

    code = "FD687"
    severity = "warning"
    title = "{count} shares of GPUs are no more than one: they may be of the same device"
    label = "not {count} devices"
    help = 'ask for one share, with the memory of all: GPU(1, share="{whole}"); or for whole devices'
    count: int
    whole: str


class ShareWith(Finding):
    """A share of something that is not a vendor's GPU."""

    code = "FD689"
    title = "`share` asks for a part of a whole GPU"
    label = "cannot be combined with `resource` or `mig`"
    help = 'ask for the share alone: GPU(1, share="8Gi")'


class MemoryVolume(Finding):
    """A volume in memory that is larger than the memory of the container that writes to it."""

    code = "FD858"
    severity = "warning"
    title = "`{path}` may hold {size} in memory, but its container has at most {memory}"
    label = "can never be filled"
    help = "files there count as memory of the container: ask for more, or make the volume smaller"
    path: str
    size: str
    memory: str
