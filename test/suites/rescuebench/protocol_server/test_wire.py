"""The wire: requests come whole out of bytes in any parts, and what is no request is said at once."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esar_ros.suites.rescuebench.protocol_server.wire import LARGEST, MAGIC, ProtocolError, Requests, framed

COMMANDS = st.text(max_size=60)


def stream(commands: list[str]) -> bytes:
    return b"".join(framed(b"%d:%b" % (n, command.encode())) for n, command in enumerate(commands))


def test_a_frame_is_magic_length_and_payload_little_endian() -> None:
    assert framed(b"0:ok") == bytes.fromhex("c1832b9e 04000000") + b"0:ok"


@given(st.lists(COMMANDS, max_size=6), st.lists(st.integers(1, 70), max_size=8))
def test_requests_do_not_depend_on_how_their_bytes_come(commands: list[str], parts: list[int]) -> None:
    sent, requests, got = stream(commands), Requests(), []
    for count in [*parts, len(sent)]:
        requests.feed(sent[:count])
        sent = sent[count:]
        got += list(requests)
    assert got == list(enumerate(commands))
    assert not requests.unfinished


def test_a_request_may_be_cut_at_every_byte() -> None:
    sent = stream(["vget /cameras", "vget /objects"])
    for cut in range(1, len(sent)):
        requests = Requests()
        requests.feed(sent[:cut])
        first = list(requests)
        requests.feed(sent[cut:])
        assert [*first, *requests] == [(0, "vget /cameras"), (1, "vget /objects")]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"GET / HTTP/1.1\r\n", "begins with 0x20544547"),
        (struct.pack("<II", MAGIC, LARGEST + 1), f"at most {LARGEST}"),
        (struct.pack("<II", MAGIC, 0xFFFFFFFF), "4294967295 bytes"),
        (framed(b"vget /cameras"), "is no request"),
        (framed(b""), "is no request"),
        (framed(b"1:vget /cameras"), "request 1 where 0 was due"),
        (framed(b"-1:x"), "is no request"),
    ],
)
def test_what_is_no_request_is_said_before_more_is_read(data: bytes, words: str) -> None:
    requests = Requests()
    requests.feed(data)
    with pytest.raises(ProtocolError, match=words):
        list(requests)


@given(st.binary(max_size=200))
def test_garbage_is_refused_or_waited_for(data: bytes) -> None:
    requests = Requests()
    requests.feed(data)
    try:
        got = list(requests)
    except ProtocolError:
        return
    assert got == [] or data.startswith(struct.pack("<I", MAGIC))


def test_text_that_is_none_is_a_command_of_its_own() -> None:
    requests = Requests()
    requests.feed(framed(b"0:vget \xff\xfe"))
    assert list(requests) == [(0, "vget \ufffd\ufffd")]
