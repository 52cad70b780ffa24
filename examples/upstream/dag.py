"""Templates that the cluster has already, in one graph."""

from flowdsl import call_template, pipeline


@call_template("workflow-template-print-message", "print-message")
def print_message(message: str) -> None:
    raise NotImplementedError


@call_template("workflow-template-inner-dag", "inner-diamond")
def inner_diamond() -> None:
    raise NotImplementedError


@pipeline
def diamond() -> None:
    a = print_message.options(name="A")("A")
    b = print_message.options(name="B", after=[a])("B")
    c = inner_diamond.options(name="C", after=[a])()
    print_message.options(name="D", after=[b, c])("D")
