"""A library of steps, and of what they have in common: the package imports the language."""

from .steps import count
from .tables import size

__all__ = ["count", "size"]
