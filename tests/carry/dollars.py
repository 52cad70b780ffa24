from flowdsl import step

ARGUMENTS = {"n": 3}
ESCAPED = "a$$b"
PATTERN = r"^\w+$$|$(ARGO_POD_NAME)|$$(ARGO_POD_NAME)$"


@step(image="python:3.12-slim")
def train(n: int) -> list[str]:
    r"""Docs with $$x^2$$ in them."""
    # $$ and $(ARGO_POD_NAME) and $(date) in a comment.
    shell = "echo $$ $(date) $(ARGO_POD_NAME) $HOME ${HOME}"
    data = b"$$$"
    return [ESCAPED, PATTERN, shell, data.decode(), f"$${n}$", rf"\d$${n}"]
