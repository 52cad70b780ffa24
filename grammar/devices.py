"""The extended resources by which pods ask for GPUs and the like."""

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


def is_gpu(resource: str) -> bool:
    """Whether a resource counts devices that compute, of whatever vendor, and not their memory or the like."""
    return _NAMES.fullmatch(resource) is not None


def vendor_of(resource: str) -> str:
    """Whose device a resource is: one of `VENDORS`, or the domain of the resource."""
    domain = resource.partition("/")[0]
    return next((name for name, own in VENDORS.items() if own.partition("/")[0] == domain), domain)
