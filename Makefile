# Each target works in a fresh clone with Python 3.11 or newer, make and git: what it needs is installed
# once, into $(VENV) and for the peers of `make bench` into .venv-bench, and again when pyproject.toml changes.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
BENCH ?= full
PROOFS ?= full
EXAMPLE ?= examples/sweep/pipeline.py

# One of each series that is supported; 37.0.2 is left out, as pyproject.toml says.
CLIENTS := 31.0.0 32.0.1 33.1.0 34.1.0 35.0.0 36.0.3 37.0.1

BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
# With RERUN=1 the tests that failed beside others, on cores that were busy, are run once more alone, each by its name:
# they pass there or the target fails. The CI of CPython does the same. What assertions compared is said of those alone: to
# rewrite them takes each worker as long as to find its tests.
TESTS = $(PYTEST) $(if $(RERUN),--assert=plain )$(1) $(if $(RERUN),|| { test $$? = 1 && \
	$(PYTEST) $(1) -n 0 --last-failed --last-failed-no-failures=none --verbose; })
# Many tests wait: for servers, for processes, for what was recorded.
MANY = -n $$(( 3 * $(JOBS) )) --dist worksteal
# Each of these has an API server of its own.
SERVERS = -n $$(( 2 * $(JOBS) )) --dist worksteal
# What has a target of its own, because it takes long or needs more.
LONG := end_to_end artifacts/test_interrupted.py artifacts/test_moto.py local/test_cost.py local/test_properties.py \
	test_importing_graphs.py test_learning.py test_mutation.py test_stability.py
APART := apiserver checkers corpus peers reader wheel $(LONG)
RUN := $(VENV)/.installed
DEV := $(VENV)/.group-dev
PEERS := .venv-bench/.group-bench
PIP := -m pip --quiet --disable-pip-version-check
# $(call INSTALL,python,what) takes uv, which needs a fifth of the time; pip does it where uv is not to be had, or does not
# reach the index that pip was told of. `--group` came with pip 25.1. Most of what is installed is never imported: Python
# compiles the rest when it is.
INSTALL = $(BIN)/uv pip install --quiet --python $(1) $(2) || { \
	$(1) $(PIP) install --upgrade 'pip>=25.1' && $(1) $(PIP) install --no-compile $(2); }
MATERIAL = @test -d "$${FLOWDSL_CORPUS:-../shared}" || { \
	echo "make $@: no reference material in $${FLOWDSL_CORPUS:-../shared}; name its folder: FLOWDSL_CORPUS=/path make $@" >&2; \
	exit 1; }

# What one process compiled the others load: some shells and images tell Python to keep nothing.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help environments demo test test-long corpus test-reader test-clients test-cluster test-controller test-argo test-peers lint types docs wheel-test bench clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name text; do \
		printf '  %-12s %s\n' "$$name" "$$text"; done

environments: $(DEV) $(VENV)/.group-docs $(VENV)/.group-go $(PEERS) ## install what the other targets need

demo: $(RUN) ## run an example on this machine: a sweep of twenty trials
	@mkdir -p build/demo
	$(BIN)/flowdsl compile $(EXAMPLE) -o build/demo/pipeline.yaml
	cd build/demo && "$(abspath $(BIN))/flowdsl" run "$(abspath $(EXAMPLE))"

test: $(DEV) ## the tests that need nothing outside the checkout
	$(call TESTS,tests $(APART:%=--ignore=tests/%) $(MANY))

test-long: $(DEV) ## pipelines, searches and examples that run, random graphs and large ones, every change of a call, a kill at every write
	$(call TESTS,$(LONG:%=tests/%) $(MANY))

corpus: $(DEV) ## the tests against the reference material in ../shared, or in $FLOWDSL_CORPUS
	$(MATERIAL)
	$(call TESTS,tests/corpus $(MANY))

test-reader: $(DEV) $(VENV)/.group-go ## read the YAML with the Go reader of the Kubernetes tools
	$(PYTEST) tests/reader

test-cluster: $(DEV) $(VENV)/.group-go ## on a real API server, built once; PROOFS=short for a part of the proofs
	$(MATERIAL)
	$(BIN)/python -m tests.apiserver.build
	export FLOWDSL_PROOFS=$(PROOFS); $(call TESTS,tests/apiserver $(SERVERS))

# A tool of those who change the machine: no part of .ci/run, which has no checkout of Argo.
test-controller: $(DEV) $(VENV)/.group-go ## made-up workflows, here and by Argo's controller; ARGO=a checkout of argo-workflows, COUNT=, SEED=
	$(if $(ARGO),,$(error make $@: name a checkout of argo-workflows at the tag v4.1.2: make $@ ARGO=path/to/argo-workflows))
	@$(BIN)/python -m tests.controller $(ARGO) --count $(or $(COUNT),1000) --seed $(or $(SEED),0)

# Like the one before no part of .ci/run; it needs root, too.
test-argo: $(DEV) $(VENV)/.group-go ## pipelines of the tests, here and by a whole Argo; ARGO=a checkout of argo-workflows, FILES=other workflows
	$(if $(ARGO),,$(error make $@: name a checkout of argo-workflows at the tag v4.1.2: make $@ ARGO=path/to/argo-workflows))
	$(BIN)/python -m tests.apiserver.build
	@$(BIN)/python -m tests.argo $(ARGO) $(FILES)

test-clients: $(DEV) $(CLIENTS:%=.clients/%/.installed) ## the way to a cluster with each version of the client package
	@for version in $(CLIENTS); do echo "kubernetes $$version"; \
		( export FLOWDSL_KUBERNETES=$${version%.*} PYTHONPATH=.clients/$$version; \
		$(call TESTS,-q tests/test_transport.py -n $$(( 2 * $(JOBS) ))) ) || exit 1; done

test-peers: $(DEV) $(PEERS) ## compile what docs/comparison.md shows with the tools it compares
	$(PYTEST) tests/peers

lint: $(DEV) ## style, import direction, links
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/python -m tools.links

types: $(DEV) ## mypy and pyright, both strict, also over what users write
	@$(BIN)/mypy & other=$$!; $(BIN)/pyright --project pyproject.toml --pythonpath $(BIN)/python; own=$$?; \
		wait $$other && exit $$own  # each uses one core
	$(call TESTS,tests/checkers -n $(JOBS))

docs: $(VENV)/.group-docs ## build the site into build/docs; a warning is an error
	$(BIN)/sphinx-build --fresh-env --fail-on-warning --keep-going --nitpicky --quiet docs build/docs
	@echo build/docs/index.html

wheel-test: $(DEV) ## build the sdist and the wheel, and use the wheel away from the checkout
	$(PYTEST) tests/wheel

bench: $(RUN) $(PEERS) ## measure against the peers; BENCH=short for a quick run
	$(BIN)/python -m benchmarks $(if $(filter short,$(BENCH)),--short)

clean: ## remove caches and build output; the environments stay
	rm -rf build dist flowdsl.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find benchmarks cli compiler examples flowdsl grammar runtime testing tests tools -name __pycache__ -prune -exec rm -rf {} +

# A pip is the last thing a new environment gets.
%/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "flowdsl needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $* || { \
		echo "no virtual environment could be made; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo '*' > $*/.gitignore

$(BIN)/uv: | $(BIN)/pip
	-$(BIN)/python $(PIP) install 'uv>=0.8'

$(RUN): pyproject.toml | $(BIN)/uv
	$(call INSTALL,$(BIN)/python,--editable .)
	@touch $@

# One stamp for each dependency group of pyproject.toml.
$(VENV)/.group-%: $(RUN)
	$(call INSTALL,$(BIN)/python,flowdsl --group $*)  # with what flowdsl needs
	@touch $@

.clients/%/.installed: | $(BIN)/uv
	$(call INSTALL,$(BIN)/python,--target $(@D) kubernetes==$*)
	@echo '*' > .clients/.gitignore
	@touch $@

$(PEERS): pyproject.toml | $(BIN)/uv .venv-bench/bin/pip
	$(call INSTALL,.venv-bench/bin/python,--group bench)
	@touch $@
