"""JSONPath as kubectl reads it."""

from __future__ import annotations

import pytest

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.kube_path import check


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".status.message",
        "{}",
        "{.metadata.uid}",
        "{.a.b[0].c[*].d}",
        "{.a}-{.b} and } more",
        "{$.a}{@}{ .a }",
        r"{.metadata.annotations.example\.com/name}",
        "{..name}{..[0].a}",
        "{['metadata.name', 'status']}",
        "{.a.*.b|c()}",
        "{.a['b'].c}",
        "{.a[0,1]}{.a[0, 1]}{.a[-1:]}{.a[1:2:3]}{.a[]}",
        '{.status.conditions[?(@.type=="Ready")].status}',
        "{.items[?(@.a == 'x (y)')].b}",
        "{.items[?(@.n>=3)].name}{.items[?(@.x==true)]}",
        "{.items[?(@.status.capacity)].x}",
        "{.items[?(@.tags[0]=='a')]}",
        '{range .items[*]}{.metadata.name}{"\\n"}{end}',
    ],
)
def test_paths(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    ("text", "start", "found", "expected"),
    [
        ("{.metadata.uid", 0, "{", "a closing `}`"),
        ("{.a} {.b", 5, "{", "a closing `}`"),
        ("{.a\n}", 3, "\n", "a closing `}`"),
        ("{metadata.name}", 1, "metadata", "`.metadata`"),
        ("{*}", 1, "*", "a path such as `.status.phase`"),
        ('{.a["b"]}', 4, '"b"', "single quotes: `'b'`"),
        ("{.a[b]}", 4, "b", "quotes around the key: `'b'`"),
        ("{.a[-]}", 4, "-", "a number, a range such as `0:2`, `*` or a key such as `'name'`"),
        ("{.a[?@.b]}", 4, "?", "a filter such as `?(@.type=='Ready')`"),
        ("{.a[0}", 5, "}", "`]`"),
        ("{.a[ 0 ]}", 7, "]", "`]`"),
        ("{.a[?(@.b==1 && @.c==2)]}", 13, "&&", "one comparison, without `&&` and `||`"),
        ("{.a[?(@.b=1)]}", 9, "=", "`==`"),
        ("{.a[?(@.b==1]}", 12, "]", "`)]` after the filter"),
        ("{.a[?()]}", 6, ")", "a path such as `@.type`, or a value"),
        ('{"abc}', 1, '"abc}', 'a second " after this one'),
        ("{1.2.3}", 1, "1.2.3", "a path such as `.status.phase`"),
        ("{....a}", 1, "....", "a path such as `.status.phase`"),
    ],
)
def test_what_kubectl_could_not_read(text: str, start: int, found: str, expected: str) -> None:
    with pytest.raises(GrammarError) as caught:
        check(text)
    error = caught.value
    assert (error.start, error.found, error.expected) == (start, found, expected)
