"""A real server: llama-cpp-python's, with the embedded model's own weights."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from language_server.decoding import Message, Prompt, generate, load_model
from language_server.decoding.embedded import packaged_weights
from language_server.decoding.http_model import HttpModel
from language_server.decoding.language_model import ModelError, go_on
from language_server.languages import Language, load_language
from language_server.languages.shipped import shipped_grammars
from language_server.projection import Prefix
from language_server.syntax import gbnf

pytestmark = [pytest.mark.long, pytest.mark.model]
_NEEDED = ("llama_cpp", "uvicorn", "fastapi", "sse_starlette", "starlette_context")
_SECONDS_TO_START = 120


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server that is running."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(
            f"{', '.join(missing)} not installed (dependency group 'server', built from C++)"
        )
    weights = packaged_weights()
    if weights is None:
        pytest.skip("the embedded model's weights are not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {"model": weights, "port": port, "n_ctx": 4096, "n_threads": 1, "verbose": False}
    command = [sys.executable, "-m", "llama_cpp.server"]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}/v1"
        _wait_for(process, url)
        yield url
    finally:
        process.kill()
        process.wait()


def _wait_for(process: subprocess.Popen[bytes], url: str) -> None:
    until = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < until:
        assert process.poll() is None, "the server has ended"
        try:
            if httpx2.get(f"{url}/models").is_success:
                return
        except httpx2.TransportError:
            time.sleep(0.2)
    raise AssertionError("the server does not answer")


@pytest.fixture(scope="module")
def model(server: str) -> HttpModel:
    connected = load_model(server)
    assert isinstance(connected, HttpModel)
    return connected


@pytest.fixture(scope="module")
def statechart() -> Language:
    return load_language("statechart")


@pytest.mark.parametrize("strategy", ["assured", "retry"])
def test_a_text_is_written(model: HttpModel, statechart: Language, strategy: str) -> None:
    task = "a door that opens and closes"
    result = generate(statechart, task, model, strategy, max_tokens=40, deadline=180)
    assert result.tokens["model"] > 0 or result.finish == "deadline"
    assert result.model_calls > 0
    if strategy == "assured" or result.complete:
        assert statechart.judge(result.text) == ()
    else:
        assert Prefix.of_grammar(statechart).advance(result.text).alive


def test_the_servers_grammar_option_is_found_and_kept(model: HttpModel, tmp_path: Path) -> None:
    """Proposals are texts of the grammar, which this model would not write alone."""
    grammar = tmp_path / "words.tx"
    grammar.write_text("Model[noskipws]: 'qzx' words+=Word; Word[noskipws]: 'vkj' text=/[a-z]/;")
    syntax = load_language(str(grammar)).grammar.context_free.after("")
    kept = model.keeping(lambda: syntax)
    for seed in range(2):
        prompt = "Write a poem about the sea.\n"
        assert kept.propose(prompt, "", seed, go_on).text.startswith(b"qzxvkj")
        assert b"qzx" not in model.propose(prompt, "", seed, go_on).text


@pytest.mark.parametrize("name", sorted(shipped_grammars()))
def test_it_reads_the_grammars_of_all_languages(server: str, name: str) -> None:
    syntax = load_language(name).grammar.context_free.after("")
    assert syntax is not None
    request = {"prompt": "x", "max_tokens": 1, "grammar": gbnf(syntax)}
    answer = httpx2.post(f"{server}/completions", json=request, timeout=60)
    assert answer.is_success, answer.text


def test_a_deadline_is_kept(model: HttpModel, statechart: Language) -> None:
    result = generate(statechart, "a lift", model, max_tokens=300, deadline=1.5)
    assert result.finish in ("deadline", "end")
    assert statechart.judge(result.text) == ()


def test_what_the_server_does_not_know_is_told(server: str) -> None:
    with pytest.raises(ModelError, match="has no model 'gpt-9'"):
        load_model(f"{server}#gpt-9")


def test_a_prompt_that_is_too_long_is_told_in_one_line(
    model: HttpModel,
) -> None:
    context = model.start(Prompt((Message("user", "word " * 9000),)))
    with pytest.raises(ModelError) as caught:
        context.logits()
    assert "\n" not in str(caught.value)
