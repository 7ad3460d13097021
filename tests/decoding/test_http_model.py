"""A model behind an OpenAI-compatible server: a small server on this machine plays its part."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from language_server.decoding import Message, ModelError, Prompt, generate, load_model
from language_server.decoding import http_model as room
from language_server.decoding.http_model import HttpModel
from language_server.decoding.language_model import Cancelled
from language_server.decoding.vocabulary import byte_vocabulary
from language_server.languages import Language, load_language

VALID = "statechart Door\nevent open\ninitial state Closed { on open -> Open }\nstate Open\n"
Answer = tuple[int, Any]


@dataclass
class Server:
    """The requests it got, those that ask for grammar options apart, and how it answers."""

    url: str
    answer: Callable[[dict[str, Any]], Answer]
    requests: list[dict[str, Any]] = field(default_factory=list)
    probes: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


def completion(text: str, finish: str = "length") -> Answer:
    return 200, {"choices": [{"text": text, "finish_reason": finish}]}


def written(request: dict[str, Any]) -> str:
    """What the answer says already."""
    return str(request["prompt"]).rpartition("### Model\n")[2]


def replaying(wanted: str, piece: int = 24) -> Callable[[dict[str, Any]], Answer]:
    """Goes on with a text where the answer is a beginning of it, ``piece`` characters at once."""

    def answer(request: dict[str, Any]) -> Answer:
        said = written(request)
        rest = wanted[len(said) :] if wanted.startswith(said) else ""
        return completion(rest[:piece], "length" if len(rest) > piece else "stop")

    return answer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(room, "_WAITS", (0.01, 0.01, 0.01))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("LANGWRIGHT_API_KEY", raising=False)
    with serving() as running:
        yield running


@contextmanager
def serving() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(200, {"data": [{"id": "small"}, {"id": "large"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            probes = body["prompt"] == room._PROBE_PROMPT
            (server.probes if probes else server.requests).append(body)
            server.headers.append(dict(self.headers))
            self.reply(*server.answer(body))

        def reply(self, status: int, answer: Any) -> None:
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            with suppress(BrokenPipeError):  # nobody waits any more
                self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{listening.server_port}/v1", replaying(""))
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()


@pytest.fixture(scope="module")
def statechart() -> Language:
    return load_language("statechart")


def connected(server: Server, seconds: float = 5.0) -> HttpModel:
    return HttpModel.connect(server.url, byte_vocabulary(), seconds)


@pytest.mark.parametrize("strategy", ["free", "grammar", "mask", "retry", "assured", "cascade"])
@pytest.mark.parametrize("piece", [1, 24, 1000])
def test_what_the_server_proposes_is_written(
    server: Server, statechart: Language, strategy: str, piece: int
) -> None:
    server.answer = replaying(VALID, piece)
    result = generate(statechart, "a door", connected(server), strategy, max_tokens=400)
    assert (result.text, result.finish) == (VALID, "end")
    if piece > 1:
        # A request serves many tokens; what is forced is not asked for.
        assert len(server.requests) <= 2 + 3 * len(VALID) / piece
    assert result.model_calls == len(server.requests)
    assert "a door" in server.requests[0]["prompt"]
    assert server.requests[0]["model"] == "small"


def test_a_proposal_is_used_as_far_as_the_language_allows(
    server: Server, statechart: Language
) -> None:
    """The state it leads to is declared twice; then the server has a better idea."""
    begun = "statechart Door\nevent open\ninitial state Closed { on open -> Open }\nstate "

    def answer(request: dict[str, Any]) -> Answer:
        said = written(request)
        if begun.startswith(said):
            return completion(begun[len(said) :] + "Closed\nstate Open\n", "stop")
        better = begun + "Open\n"
        rest = better[len(said) :] if better.startswith(said) else "\n"
        return completion(rest, "stop")

    server.answer = answer
    result = generate(statechart, "", connected(server), "assured", max_tokens=400)
    assert statechart.judge(result.text) == ()
    assert result.text.startswith(begun)
    assert len(server.requests) > 1


@pytest.mark.parametrize(
    "nonsense", ["", "\n", "Certainly! Here is", "```\nstatechart", "}}}", "é"]
)
def test_assured_is_valid_whatever_the_server_says(
    server: Server, statechart: Language, nonsense: str
) -> None:
    server.answer = lambda request: completion(nonsense, "stop" if not nonsense else "length")
    result = generate(statechart, "", connected(server), "assured", max_tokens=60)
    assert statechart.judge(result.text) == ()


def test_a_server_that_has_nothing_to_think(server: Server, statechart: Language) -> None:
    server.answer = lambda request: completion("")
    result = generate(statechart, "", connected(server), max_tokens=60, reasoning=5)
    assert statechart.judge(result.text) == ()
    assert result.thoughts == "<think>\n\n</think>\n"


def test_equal_seeds_ask_for_equal_draws_and_others_for_others(
    server: Server, statechart: Language
) -> None:
    server.answer = replaying(VALID)
    asked = []
    for seed in (1, 1, 2):
        generate(statechart, "", connected(server), seed=seed, max_tokens=400)
        asked.append([request["seed"] for request in server.requests])
        server.requests.clear()
    assert asked[0] == asked[1] != asked[2]


def test_a_busy_server_is_asked_again(server: Server, statechart: Language) -> None:
    troubles = iter([(503, {}), (429, {}), (500, b"oops")])
    good = replaying(VALID, 1000)
    server.answer = lambda request: next(troubles, None) or good(request)
    assert generate(statechart, "", connected(server), max_tokens=400).text == VALID


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((503, {}), "cannot be used"),
        ((401, {}), "refuses the request: 401"),
        ((404, {}), "refuses the request: 404"),
        ((200, b"<html>"), "did not answer with JSON"),
        ((200, []), "does not answer like an OpenAI-compatible server"),
        ((200, {"choices": []}), "did not answer with a completion"),
        ((200, {"choices": [{"message": "x"}]}), "did not answer with a completion"),
    ],
)
def test_a_server_that_fails_is_named_in_one_line(
    server: Server, statechart: Language, answer: Answer, told: str
) -> None:
    server.answer = lambda request: answer
    with pytest.raises(ModelError, match=told) as caught:
        generate(statechart, "", connected(server))
    assert "\n" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)


def test_a_server_that_is_down(server: Server) -> None:
    with serving() as gone:
        url = gone.url
    with pytest.raises(ModelError, match=r"cannot be used .* is it running there\?"):
        load_model(url)


def test_a_server_that_takes_too_long(server: Server, statechart: Language) -> None:
    release = threading.Event()

    def answer(request: dict[str, Any]) -> Answer:
        release.wait(10)
        return completion("")

    server.answer = answer
    with pytest.raises(ModelError, match="too long"):
        generate(statechart, "", connected(server, seconds=0.1))
    release.set()


def test_a_request_is_not_waited_for_after_a_stop(server: Server) -> None:
    release, asked = threading.Event(), threading.Event()

    def answer(request: dict[str, Any]) -> Answer:
        asked.set()
        release.wait(10)
        return completion("")

    server.answer = answer
    context = connected(server).start(Prompt((Message("user", "x"),)), asked.is_set)
    with pytest.raises(Cancelled):
        context.logits()
    release.set()


def test_a_cancelled_request_leaves_a_valid_text(server: Server, statechart: Language) -> None:
    good, cancel, release = replaying(VALID, 30), threading.Event(), threading.Event()

    def answer(request: dict[str, Any]) -> Answer:
        if len(server.requests) > 1:
            cancel.set()
            release.wait(10)
        return good(request)

    server.answer = answer
    result = generate(statechart, "", connected(server), max_tokens=400, cancel=cancel)
    release.set()
    assert result.finish == "cancelled"
    assert result.text.startswith(VALID[:20])
    assert statechart.judge(result.text) == ()


def test_models_are_chosen_by_name(server: Server) -> None:
    assert load_model(server.url).name.startswith("small at ")
    assert load_model(f"{server.url}#large").name.startswith("large at ")
    with pytest.raises(ModelError, match="has no model 'huge': small, large"):
        load_model(f"{server.url}#huge")


def test_a_key_is_sent(
    server: Server, statechart: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGWRIGHT_API_KEY", "secret")
    server.answer = replaying(VALID)
    generate(statechart, "", connected(server), max_tokens=400)
    assert server.headers[0]["Authorization"] == "Bearer secret"


def test_half_a_code_point_is_for_the_proposal_to_finish(server: Server) -> None:
    """Single bytes: the model is asked again between the two of an é."""
    server.answer = lambda request: completion("é" if not written(request) else "x")
    context = connected(server).start(Prompt(()))
    first, second = "é".encode()
    assert int(context.logits().argmax()) == first
    context.append([first])
    assert int(context.logits().argmax()) == second
    assert int(context.logits().argmax()) == second  # asked again, it has been turned down
    assert len(server.requests) == 2


def obeying(wanted: str, form: str) -> Callable[[dict[str, Any]], Answer]:
    """A server that keeps a grammar given in one form, as llama.cpp or vLLM would."""

    def answer(request: dict[str, Any]) -> Answer:
        given = request.get(form)
        grammar = given.get("grammar") if isinstance(given, dict) else given
        if grammar is not None and "qzx" in grammar:
            return completion("qzxv")
        return replaying(wanted)(request)

    return answer


@pytest.mark.parametrize("form", ["grammar", "structured_outputs", "guided_grammar"])
def test_the_servers_own_grammar_option_is_found_and_used(
    server: Server, statechart: Language, form: str
) -> None:
    server.answer = obeying(VALID, form)
    model = connected(server)
    assert generate(statechart, "a door", model, max_tokens=400).text == VALID
    sent = [str(request[form]) for request in server.requests]
    assert "statechart" in sent[0]
    # What has been written is not asked for again.
    assert "statechart" not in sent[-1].splitlines()[0]
    probes = len(server.probes)
    assert 1 <= probes <= 3
    generate(statechart, "a door", model, max_tokens=400)
    assert len(server.probes) == probes


def test_a_server_without_a_grammar_option_is_not_told(
    server: Server, statechart: Language
) -> None:
    server.answer = replaying(VALID)
    assert generate(statechart, "a door", connected(server), max_tokens=400).text == VALID
    assert "grammar" not in server.requests[-1]


def test_free_text_keeps_no_grammar(server: Server, statechart: Language) -> None:
    server.answer = obeying(VALID, "grammar")
    generate(statechart, "a door", connected(server), "free", max_tokens=400)
    assert not any("grammar" in request for request in server.requests)


def test_a_server_that_refuses_grammars_is_asked_without(
    server: Server, statechart: Language
) -> None:
    def answer(request: dict[str, Any]) -> Answer:
        if {"grammar", "structured_outputs", "guided_grammar"} & request.keys():
            return 400, {"error": "unknown field"}
        return replaying(VALID)(request)

    server.answer = answer
    assert generate(statechart, "", connected(server), max_tokens=400).text == VALID
