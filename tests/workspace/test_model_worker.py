from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from language_server.workspace import model_worker
from language_server.workspace.model_worker import ModelWorker, WorkerError

FAKE = Path(__file__).with_name("fake_model_process.py")


@pytest_asyncio.fixture
async def worker() -> AsyncIterator[ModelWorker]:
    worker = ModelWorker((sys.executable, str(FAKE)))
    yield worker
    await worker.stop()


async def test_events_come_in_order_before_the_result(worker: ModelWorker) -> None:
    heard: list[str] = []
    result = await worker.request("echo", {"say": "hi"}, lambda event: heard.append(event["text"]))
    assert result["said"] == "hi"
    assert heard == ["one"]
    assert not worker.busy


async def test_a_refusal_is_told_in_its_own_words(worker: ModelWorker) -> None:
    with pytest.raises(WorkerError, match=r"No model\. Install one\."):
        await worker.request("refuse", {})


async def test_it_knows_which_model_is_loaded(worker: ModelWorker) -> None:
    assert worker.loaded is None
    await worker.request("load", {"model": "default"})
    assert worker.loaded == "default"


async def started(worker: ModelWorker, do: str) -> asyncio.Task[object]:
    begun = asyncio.Event()
    task = asyncio.create_task(worker.request(do, {}, lambda _: begun.set()))
    await begun.wait()
    return task


async def test_e11_a_cancelled_request_stops(worker: ModelWorker) -> None:
    first = (await worker.request("echo", {"say": ""}))["process"]
    task = await started(worker, "wait")
    began = time.perf_counter()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.perf_counter() - began < 1
    assert (await worker.request("echo", {"say": ""}))["process"] == first


async def test_a_stopped_request_gives_what_it_had(worker: ModelWorker) -> None:
    request = await worker.begin("wait", {})
    result = await request.stop()
    assert result is not None
    assert result["cancelled"] is True
    assert not worker.busy


async def test_e11_a_process_that_does_not_stop_is_replaced(
    worker: ModelWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_worker, "_GRACE", 0.2)
    first = (await worker.request("echo", {"say": ""}))["process"]
    task = await started(worker, "hang")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await worker.request("echo", {"say": "again"}))["process"] != first


async def test_a_crash_is_told_and_the_next_request_works(worker: ModelWorker) -> None:
    await worker.request("load", {"model": "default"})
    with pytest.raises(WorkerError, match="ended unexpectedly"):
        await worker.request("crash", {})
    assert worker.loaded is None
    assert (await worker.request("echo", {"say": "again"}))["said"] == "again"


async def test_nonsense_on_the_pipe_ends_the_process(worker: ModelWorker) -> None:
    with pytest.raises(WorkerError, match=r"crashed|killed"):
        await worker.request("nonsense", {})


async def test_a_command_that_does_not_start() -> None:
    with pytest.raises(WorkerError, match="does not start"):
        await ModelWorker(("/nonexistent/python",)).request("echo", {})
