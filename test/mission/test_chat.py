"""Chat requests: what a hostile server, a proxy or a plain address may not do; a fence taken off; tokens estimated."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterator

import pytest

from esar_ros.mission.chat import ChatServer, NoAnswer, check_key, estimated_tokens, key_of, without_fence
from esar_ros.mission.errors import UsageError
from helpers.chat_server import SECRET, ChatEndpoint, Handler, says


@pytest.fixture
def server() -> Iterator[ChatEndpoint]:
    running = ChatEndpoint()
    yield running
    running.close()


def dripping_head(handler: Handler) -> None:
    """One header after another, none of them the last: no single read ever times out."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(60):
        handler.wfile.write(b"X-%d: 0\r\n" % number)
        handler.wfile.flush()
        time.sleep(0.05)


def dripping_line(handler: Handler) -> None:
    """A status line that does not end."""
    handler.wfile.write(b"HTTP/1.1 200 ")
    for _ in range(60):
        handler.wfile.write(b"O")
        handler.wfile.flush()
        time.sleep(0.05)


@pytest.mark.parametrize("slow", [dripping_head, dripping_line])
def test_headers_that_drip_end_with_the_time_out(server: ChatEndpoint, slow: object) -> None:
    server.answers(slow)  # type: ignore[arg-type]
    began = time.monotonic()
    with pytest.raises(NoAnswer, match=r"no answer within 0\.3 s"):
        ChatServer(server.url, SECRET, timeout=0.3).complete({})
    assert time.monotonic() - began < 1.5, "the server drips for 3 s"


@pytest.mark.parametrize(
    "url",
    [
        "http://llm.lab.example:8000/v1",
        "http://192.168.1.7/v1",
        "http://localhost@example.com/v1",
        "http://[fe80::1]/v1",
    ],
)
def test_a_key_never_goes_in_clear_to_another_machine(url: str) -> None:
    with pytest.raises(UsageError, match=r"the key would be sent in clear to .*: give an https address"):
        ChatServer(url, SECRET)
    ChatServer(url, None)
    ChatServer(url.replace("http:", "https:"), SECRET)


def test_certificates_are_checked_and_read_once_for_all_requests(
    server: ChatEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ssl.SSLContext] = []
    create = ssl.create_default_context

    def counted() -> ssl.SSLContext:
        made.append(create())
        return made[-1]

    for name in ("create_default_context", "_create_default_https_context"):
        monkeypatch.setattr(ssl, name, counted)
    ChatServer(server.url)
    assert not made
    asked = ChatServer(server.url.replace("http:", "https:"))
    for _ in range(3):
        with pytest.raises(NoAnswer, match="connection lost or refused"):
            asked.complete({})
    assert [(context.verify_mode, context.check_hostname) for context in made] == [(ssl.CERT_REQUIRED, True)]


@pytest.mark.parametrize(
    "url", ["http://localhost:8000/v1", "http://127.0.0.1/v1", "http://127.9.9.9/v1", "http://[::1]:1/v1"]
)
def test_a_key_may_go_to_this_machine(url: str) -> None:
    check_key(url, SECRET)


def test_no_proxy_stands_between_two_programs_of_one_machine(
    server: ChatEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    with pytest.raises(NoAnswer, match="connection lost or refused"):
        ChatServer("http://127.0.0.1:1/v1", SECRET, timeout=2.0).complete({})
    assert not server.requests, "the proxy got the key"


def test_an_answer_that_is_too_long_is_not_kept(server: ChatEndpoint) -> None:
    server.answers(says("x" * (1 << 20)))
    with pytest.raises(NoAnswer, match="too long"):
        ChatServer(server.url).complete({})


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ('{"a": 1}', '{"a": 1}'), (' ```json\n{"a": 1}\n``` ', '{"a": 1}'), ("```{}```", "{}"), ("``````", ""),
        ("`````", "`````"), ("```json {}", "```json {}"), ("``` a ``` b ```", "a ``` b"),
    ],
)  # fmt: skip
def test_a_fence_around_an_answer_is_taken_off(text: str, bare: str) -> None:
    assert without_fence(text) == bare


@pytest.mark.parametrize("text", ["```" + " " * 200_000 + "x", "```" + "\n `" * 100_000, " " * 200_000 + "```"])
def test_a_fence_without_end_costs_no_time(text: str) -> None:
    began = time.process_time()
    without_fence(text)
    assert time.process_time() - began < 0.5


def test_tokens_are_estimated_from_lengths() -> None:
    assert estimated_tokens("x" * 3000) == 1000 and estimated_tokens("搜索") == 2 and estimated_tokens("") == 0
    assert estimated_tokens([{"type": "text", "text": "abc"}, {"type": "image_url", "image_url": {}}]) == 1001


def test_half_an_emoji_becomes_a_sign_that_can_be_written(server: ChatEndpoint) -> None:
    body = b'{"choices": [{"message": {"content": "tent \\ud83d"}, "finish_reason": "length"}], "model": "\\udc00"}'
    server.answers(lambda handler: handler.reply(200, body))
    answer = ChatServer(server.url).complete({})
    assert (answer.text, answer.model) == ("tent \ufffd", "\ufffd")
    assert estimated_tokens("\ud83d") == 1


def test_an_error_in_an_answer_keeps_the_server_s_words_but_the_key(server: ChatEndpoint) -> None:
    told = {"error": {"message": f"Rate limit of {SECRET}\nexceeded", "code": 429}}
    server.answers(lambda handler: handler.reply(200, json.dumps(told).encode()))
    with pytest.raises(NoAnswer, match="the server answered with an error") as refused:
        ChatServer(server.url, SECRET).complete({})
    assert "Rate limit of [key]" in refused.value.words and refused.value.again


@pytest.mark.parametrize(
    "url",
    ["https://", "http:///v1", "http://[::1/v1", "http://localhost:80a/v1", "ftp://a", "HTTP://a/v1", "http://a b/v1"],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is no http address"):
        ChatServer(url)


@pytest.mark.parametrize("key", [" sk-abc\r\n", "sk-abc"])
def test_a_key_is_taken_without_what_a_copy_adds(key: str) -> None:
    assert key_of("K", {"K": key}) == "sk-abc" and key_of("K", {"K": " "}) is key_of("K", {}) is None


@pytest.mark.parametrize("key", ["sk-\u0416", "sk-a\rb", "sk-a\x00"])
def test_a_key_that_no_header_carries_is_refused_unseen(key: str) -> None:
    with pytest.raises(UsageError, match="K holds a character") as refused:
        key_of("K", {"K": key})
    assert "sk-" not in str(refused.value)
