"""Every method's file says where the method is from, and which part of its paper each of its steps is."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from esar_ros.planning import registry

# ESARBench's methods whose papers have steps; the others are said in a sentence.
STEPPED = ("fbe", "semexp", "vlfm", "navgpt", "unigoal", "spf", "apex")
OWN = ("belief", "belief_model", "mllm")  # the project's own
REFERENCES = ("flooder", "oracle", "oracle_prior", "stay")


def head_of(name: str) -> str:
    factory: Any = registry._factory(name)
    return sys.modules[factory.__module__].__doc__ or ""


@pytest.mark.parametrize("name", sorted(set(registry.names()) - {*OWN, *REFERENCES}))
def test_the_head_of_a_method_names_its_source(name: str) -> None:
    head = head_of(name)
    source = head.partition("Source: ")[2].partition("\n\n")[0]
    assert re.search(r"section|equation|Algorithm \d|manual|SARenv", source), head
    assert re.search(r"Adapted|ESARBench", head), "what differs is said"


@pytest.mark.parametrize("name", STEPPED)
def test_each_step_of_a_paper_is_named_by_its_part(name: str) -> None:
    head = head_of(name)
    steps = [" ".join(step.split()) for step in re.findall(r"^- (.*(?:\n  .*)*)", head, re.MULTILINE)]
    assert len(steps) >= 3 and all(re.match(r'("[^"]+"|[^:]{4,90})[^:]*: ', step) for step in steps), steps
    assert re.search(r"by (the paper's|its|the) (headings|sections|terms|words|modules)", " ".join(head.split()))
