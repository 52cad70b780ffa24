"""Formats numbers as Go does, in texts and in JSON."""

from __future__ import annotations


def digits(number: float) -> tuple[str, str, int]:
    """The sign, the shortest digits, and the exponent of the first digit."""
    mantissa, _, exponent = f"{number!r}".lower().partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    found = (whole + fraction).lstrip("0")
    if not found:
        return sign, "0", 0
    first = len(whole) - (len(whole + fraction) - len(found)) - 1 + int(exponent or 0)
    return sign, found.rstrip("0"), first


def scientific(number: float) -> str:
    """strconv.FormatFloat(x, 'e', -1, 64) of a finite number."""
    sign, found, exponent = digits(number)
    point = f".{found[1:]}" if found[1:] else ""
    return f"{sign}{found[0]}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"


def fixed(number: float) -> str:
    """strconv.FormatFloat(x, 'f', -1, 64) of a finite number, as Argo writes the number of a parameter."""
    sign, found, exponent = digits(number)
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{found}"
    whole, fraction = found[: exponent + 1].ljust(exponent + 1, "0"), found[exponent + 1 :]
    return f"{sign}{whole}.{fraction}" if fraction else sign + whole


def json_number(number: float) -> str:
    """json.Marshal of a finite number, as Argo writes a numeric item: 0.00001, but 1e-7."""
    if number != 0 and not 1e-6 <= abs(number) < 1e21:
        return scientific(number).replace("e-0", "e-")
    return fixed(number)
