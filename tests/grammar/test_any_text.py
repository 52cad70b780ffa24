"""What holds of each grammar: any text is read, or refused at a place inside it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.grammar import expression, govaluate, jq, json_path, kube_path
from flowdsl.grammar.cron import cron
from flowdsl.grammar.depends import depends
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.quantity import quantity
from flowdsl.grammar.where import where


class Grammar(NamedTuple):
    """What reads a text, texts that are nearly right, and what holds of all that is read."""

    read: Callable[[str], Any]
    texts: st.SearchStrategy[str]
    holds: Callable[[Any], bool] = lambda _: True


OPERATORS = st.text("ab1.'\"()[]{}?:=!<>&|+-*/#, ;\\`\n", max_size=30)
FIELDS = st.sampled_from(["*", "0", "7-", "jan", "1,2", "/", "@", "every", "\t", ""])
GRAMMARS = {
    "cron": Grammar(cron, st.lists(FIELDS, max_size=7).map(" ".join)),
    "depends": Grammar(depends, st.text("ab.&|!() _", max_size=15), bool),
    "expression": Grammar(expression.parse, OPERATORS),
    "govaluate": Grammar(govaluate.parse, OPERATORS),
    "jq": Grammar(jq.check, st.text('{}.[]"()|,;:?=/$@a1 \\#', max_size=14)),
    "json_path": Grammar(json_path.parse, st.text("$.[]'\"?()@*:,=<&|!1a- ", max_size=14)),
    "kube_path": Grammar(kube_path.check, st.text("{}.[]'\"?()@$=*:1a \\", max_size=14)),
    "quantity": Grammar(quantity, st.text(max_size=12), Decimal.is_finite),
    "where": Grammar(where, st.text("ab()=<>! notrdi,'\"4", max_size=20), bool),
}


@pytest.mark.parametrize("name", GRAMMARS)
@given(data=st.data())
def test_any_text_is_read_or_refused_inside_it(name: str, data: st.DataObject) -> None:
    grammar = GRAMMARS[name]
    text = data.draw(grammar.texts)
    try:
        found = grammar.read(text)
    except GrammarError as caught:
        error = caught
    else:
        assert grammar.holds(found)
        return
    assert 0 <= error.start <= error.end <= len(text)
    assert error.expected in str(error)
