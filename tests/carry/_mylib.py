"""A module of the user's project, for the cases that import it."""


class Tool:
    pass


def helper() -> int:
    return 1


def hiding(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper
