"""expr-lang, and the language of `when`: which texts they read, and as what."""

from __future__ import annotations

from typing import Any

import pytest

from flowdsl.grammar import govaluate
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.expression_tree import children, variables, walk


def shape(node: Any) -> str:
    """A tree in brackets, without offsets."""
    kind: str = node.__class__.__name__
    if kind in ("str", "int", "float", "bool", "NoneType"):
        return repr(node)
    parts: list[Any] = [*node]
    if kind == "tuple":
        return f"[{' '.join(map(shape, parts))}]"
    if kind in ("Literal", "Name", "Element", "Number", "Flag"):
        return str(parts[0] if kind == "Name" else f"#{parts[0]}" if kind == "Element" else repr(parts[0]))
    if kind == "Text":
        return repr(parts[0]) if parts[1] else str(parts[0])
    return f"({kind} {' '.join(map(shape, parts[:-2]))})"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3 ** 4 ** 5", "(Binary '+' 1 (Binary '*' 2 (Binary '**' 3 (Binary '**' 4 5))))"),
        ("1 - 2 - 3", "(Binary '-' (Binary '-' 1 2) 3)"),
        ("-2 ** 2", "(Unary '-' (Binary '**' 2 2))"),
        ("not a == b", "(Binary '==' (Unary '!' a) b)"),
        ("a not in b and c", "(Binary '&&' (Unary '!' (Binary 'in' a b)) c)"),
        ("1 < 2 <= 3", "(Binary '&&' (Binary '<' 1 2) (Binary '<=' 2 3))"),
        ("x == a ?? b", "(Binary '==' x (Binary '??' a b))"),
        ("a ? b : c ? d : e", "(Conditional a b (Conditional c d e))"),
        ("a ?: b", "(Conditional a a b)"),
        ("if a {b} else if c {d} else {e}", "(Conditional a b (Conditional c d e))"),
        ("let x = 1; let y = 2; x + y", "(Let 'x' 1 (Let 'y' 2 (Binary '+' x y)))"),
        ("a.b['c'][-1]", "(Member (Member (Member a 'b' False) 'c' False) (Unary '-' 1) False)"),
        ("a?.b.c", "(Chain (Member (Member a 'b' True) 'c' False))"),
        ("a?.b[0]", "(Member (Chain (Member a 'b' True)) 0 False)"),
        ("a[1:][:2][:]", "(Slice (Slice (Slice a 1 None) None 2) None None)"),
        ("filter(l, .x > #index)", "(Call 'filter' [l (Closure (Binary '>' (Member # 'x' False) #index))])"),
        ("l | map({# * 2}) | sum()", "(Call 'sum' [(Call 'map' [l (Closure (Binary '*' # 2))])])"),
        ("sprig.trim(x)", "(Method (Member sprig 'trim' False) [x])"),
        ("{a: 1, 'b c': 2, (x): 3,}", "(Mapping [['a' 1] ['b c' 2] [x 3]])"),
        ("[0x1F, 0b11, 0o17, 1_000, .5, 1e-5, 1..2]", "(Items [31 3 15 1000 0.5 1e-05 (Binary '..' 1 2)])"),
        (r"'it\'s \x41\u00e9\u{1F600}\101\n'", repr("it's Aé😀A\n")),
        ("`a\\n``b`", repr("a\\n`b")),
        ("a /* no */ + b // end", "(Binary '+' a b)"),
        ("x.not.filter.let", "(Member (Member (Member x 'not' False) 'filter' False) 'let' False)"),
        ("a; b;", "(Sequence [a b])"),
    ],
)
def test_expressions(text: str, expected: str) -> None:
    assert shape(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("a ?? b == c", "==", "parentheses: `??` does not mix with other operators"),
        ("1 +", "", "a value"),
        ("a b", "b", "an operator or the end"),
        ("a = b", "=", "`==`"),
        ("a & b", "&", "`&&`"),
        ("f(a", "", "`,` or `)`"),
        ("'open", "'", "a second ' after this one"),
        ("1x", "1", "a number"),
        ("map(l, {'a': #})", "{'a': #}", "parentheses around this map: `{` begins a predicate here"),
        ("filter(l)", "filter(l)", "2 arguments of `filter`, not 1"),
        ("{a + b: 1}", "a + b", "a key: a name, quoted text, a number, or an expression in parentheses"),
        (r"'\q'", r"\q", r"an escape such as `\n`, `\\`, `\x24` or `\u00e9`"),
        ("9223372036854775808", "9223372036854775808", "a number of 64 bits"),
        ("a.[", "[", "a name"),
        ("a;;b", ";", "the end"),
        ("in.x", "in", "a value"),
        ("let x 1; x", "1", "`=`"),
        ("let x = 1", "", "`;`"),
        ("let sum(x) = 1; x", "sum", "a name"),
        ("if a b", "b", "an operator or `{`"),
        ("if a {b}", "", "`else`"),
        ("if a {b} else c", "c", "`{` or `if`"),
        ("if a {b} else {c} d", "d", "the end"),
        ("a not b", "b", "an operator such as `in`"),
        ("l | sum", "", "`(`"),
        ("l | 1", "1", "a name"),
        ("::1", "1", "a name"),
        ("l[1, 2]", ",", "`:` or `]`"),
        ("l[1 2]", "2", "an operator or `:` or `]`"),
        ("{a}", "}", "`:`"),
        ("filter(l, {})", "{}", "parentheses around this map: `{` begins a predicate here"),
    ],
)
def test_expressions_that_cannot_be_read(text: str, found: str, expected: str) -> None:
    with pytest.raises(GrammarError) as error:
        parse(text)
    assert (error.value.found, error.value.expected) == (found, expected)


def test_an_element_needs_a_predicate_around() -> None:
    with pytest.raises(GrammarError, match="inside the predicate of"):
        parse("#.x")
    with pytest.raises(GrammarError, match="nested parts"):
        parse("(" * 200 + "1" + ")" * 200)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("inputs.parameters['a-b'] + item.x", [("inputs.parameters.a-b", False), ("item.x", False)]),
        ("(a.b ?? c.d) ?? e", [("a.b", True), ("c.d", True), ("e", False)]),
        ("a?.b?.c", [("a.b.c", True)]),
        ("let x = a.b; x.c + d", [("a.b", False), ("d", False)]),
        ("sprig.trim(a.b) + f(c)[0].d", [("a.b", False), ("c", False)]),
        ("map(a.b, #.c + d.e)", [("a.b", False), ("d.e", False)]),
        ("a.b[c.d].e", [("a.b", False), ("c.d", False)]),
        ("{key: a.b}", [("a.b", False)]),
    ],
)
def test_variables(text: str, names: list[tuple[str, bool]]) -> None:
    found = variables(parse(text))
    assert [(each.dotted, each.guarded) for each in found] == names
    for each in found:
        assert text[each.start : each.end].startswith(each.path[0])


def test_offsets() -> None:
    text = "f( a.b , [1, 'x'] ) ?? (c + {k: 2}.k)"
    spans = [text[node.start : node.end] for node in walk(parse(text))]
    assert spans[:4] == [text[:-1], "f( a.b , [1, 'x'] )", "a.b", "a"]
    assert "[1, 'x']" in spans
    assert "{k: 2}.k" in spans
    assert [text[part.start : part.end] for part in children(parse(text))][1] == "c + {k: 2}.k"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes == 'yes' && 3 > 2.5", "(Binary '&&' (Binary '==' yes 'yes') (Binary '>' 3.0 2.5))"),
        ("a == b || c == d && !e1", None),
        ("!(a == b) || c", "(Binary '||' (Unary '!' (Binary '==' a b)) c)"),
        ("1 - 2 - 3 < 0", "(Binary '<' (Binary '-' (Binary '-' 1.0 2.0) 3.0) 0.0)"),
        ("x in (a, 'b', 3)", "(Binary 'in' x (Several [a 'b' 3.0]))"),
        ("true ? 1 : 2", "(Choice True 1.0 2.0)"),
        (r"a\-b == '\''", "(Binary '==' a-b \"'\")"),
        ("[a b] =~ '^a.*'", "(Binary '=~' 'a b' '^a.*')"),
        ("0x1f == 31", "(Binary '==' 31.0 31.0)"),
    ],
)
def test_conditions(text: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(GrammarError, match="not text"):
            govaluate.parse(text)
    else:
        assert shape(govaluate.parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("a = b", "=", "`==`"),
        ("a b == c", "b", "an operator such as `==`, or quotes around the text, or the end"),
        ("(a == b", "", "an operator or `)`"),
        ("v1.2 == 3", "v1.2", "quotes around the text: `'v1.2'`"),
        ("1.2.3 == 3", "1.2.3", "a number"),
        ("a ==-1", "==-", "a space after `==`"),
        ("'open == b", "'", "a second quote after this one"),
        ("a ==", "", "a value"),
        ("s3://b == x", "/", "a value, or quotes around the text"),
        ("image:tag == x", ":", "an operator such as `==`, or quotes around the text, or the end"),
        ("a, b", ",", "an operator such as `==`, or quotes around the text, or the end"),
    ],
)
def test_conditions_that_cannot_be_read(text: str, found: str, expected: str) -> None:
    with pytest.raises(GrammarError) as error:
        govaluate.parse(text)
    assert error.value.found == found
    assert error.value.expected == expected
