"""The processor's name and instructions, as the system tells them."""

from __future__ import annotations

import platform

from esar_ros.mission.system.processor import instructions, processor_kind


def test_instructions_are_read_from_the_flags_of_the_first_core() -> None:
    text = "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu avx avx2 avx512f\n\nflags\t\t: avx_vnni\n"
    assert instructions(text) == ("avx2", "avx512f")
    assert instructions("Features\t: neon\n") == ()


def test_a_kind_begins_with_the_architecture() -> None:
    assert processor_kind().split()[0] == platform.machine()
