"""The extended resources by which pods request GPUs and other devices."""

from __future__ import annotations

from flowdsl.grammar.regex import regex

VENDORS = {
    "nvidia": "nvidia.com/gpu",
    "amd": "amd.com/gpu",
    "intel": "gpu.intel.com/i915",
    "habana": "habana.ai/gaudi",
    "google": "google.com/tpu",
}
"""The extended resource of each vendor's device plug-in."""

_NAMES = regex(
    r"nvidia\.com/mig-.+|gpu\.intel\.com/(?!.*(?:memory|millicores|monitoring|tiles)).+|habana\.ai/.+|.+/Ascend.+"
    r"|aws\.amazon\.com/neuron.*|.+/(?:v?gpu|gpu\.shared|gpu-count|tpu)"
)


_PROFILE = regex(r"(?:[1-7]c\.)?[12347]g\.[1-9]\d*gb(?:[-.+][a-z]+)*")


def is_mig_profile(text: str) -> bool:
    """Whether a text may be a MIG profile, such as `1g.5gb`: a GPU has seven slices, and no instance of five or six.

    Source: NVIDIA Multi-Instance GPU User Guide; its device plug-in writes `.me` for `+me`.
    """
    return _PROFILE.fullmatch(text) is not None


def is_gpu(resource: str) -> bool:
    """Whether a resource counts accelerators, of any vendor, and not their memory or the like."""
    return _NAMES.fullmatch(resource) is not None


def vendor_of(resource: str) -> str:
    """The vendor of a resource: one of `VENDORS`, or the domain of the resource."""
    domain = resource.partition("/")[0]
    return next((name for name, own in VENDORS.items() if own.partition("/")[0] == domain), domain)
