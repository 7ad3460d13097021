"""Language models run in process by ``transformers``.

All that depends on the release of transformers (how a cache is passed and cropped) is in
``_Engine``.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from language_server.decoding.generation import GenerationError
from language_server.decoding.language_model import (
    Cancelled,
    Context,
    LanguageModel,
    Logits,
    ModelError,
    Prompt,
    Stop,
    go_on,
)
from language_server.decoding.vocabulary import Vocabulary, vocabulary_from_backend

_LARGEST_PIECE = 128
_SMALLEST_PIECE = 16
# What was computed of a piece is lost when a request is cancelled: it should not take longer.
_PIECE_SECONDS = 0.15
_REMEMBERED_LOGITS = 64


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """How a model is run.

    Attributes:
        engine: the library that runs it.
        dtype: the number format of weights and activations.
        int8_weights: whether single tokens use weights rounded to eight bits.
        threads: threads of one computation.
        load_seconds: from the call to a usable model.
    """

    engine: str
    dtype: str
    int8_weights: bool
    threads: int
    load_seconds: float


class TransformersModel(LanguageModel):
    """A causal language model of ``transformers``, from a local folder or the hub.

    One key-value cache is kept. A context is only a list of tokens: whatever it shares with the
    cached tokens is reused, so that rewinding, or a second request with the same beginning, costs
    what differs.
    """

    def __init__(self, name: str, engine: _Engine, tokenizer: Any, vocabulary: Vocabulary) -> None:
        self.name = name
        self.vocabulary = vocabulary
        self.facts = engine.facts
        self._engine = engine
        self._tokenizer = tokenizer

    @classmethod
    def load(cls, source: str, threads: int = 1) -> TransformersModel:
        """Load a model.

        Args:
            source: a folder as ``save_pretrained`` writes it, or a name on the hub.
            threads: threads of one computation; more than one is slower when the processor is
                shared.

        Raises:
            ModelError: there is no such model, or it is no causal language model.
        """
        started = time.perf_counter()
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
        with _loading(source):
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer

            torch.set_num_threads(threads)
            dtype = torch.bfloat16 if _has_bfloat16() else torch.float32
            tokenizer = AutoTokenizer.from_pretrained(source)
            if getattr(tokenizer, "backend_tokenizer", None) is None:
                raise ModelError(
                    f"{source}: its tokenizer has no exact token table (tokenizer.json)"
                )
            network = AutoModelForCausalLM.from_pretrained(source, dtype=dtype)
            network.train(False)
        vocabulary = vocabulary_from_backend(
            tokenizer.backend_tokenizer, end_tokens(network, tokenizer)
        )
        int8 = dtype == torch.bfloat16 and _use_int8_weights(network)
        _use_grouped_attention(network)
        seconds = time.perf_counter() - started
        facts = EngineFacts(
            f"transformers on torch {torch.__version__}",
            str(dtype).removeprefix("torch."),
            int8,
            threads,
            seconds,
        )
        return cls(source, _Engine(network, facts), tokenizer, vocabulary)

    @property
    def context_length(self) -> int | None:
        return self._engine.context_length

    def start(self, prompt: Prompt, stop: Stop = go_on, seed: int = 0) -> Context:
        return _CachedContext(self._engine, self.vocabulary, self._prompt_tokens(prompt), stop)

    def count_tokens(self, prompt: Prompt) -> int:
        return len(self._prompt_tokens(prompt))

    def _prompt_tokens(self, prompt: Prompt) -> list[int]:
        turns = [{"role": turn.role, "content": turn.content} for turn in prompt.messages]
        if self._tokenizer.chat_template:
            try:
                text = self._chat(turns)
            except Exception:
                # Some templates know no system turn: its text then opens the first question.
                text = self._chat(_without_system(turns))
            tokens = self._tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids
        else:
            text = "\n\n".join(turn["content"] for turn in turns) + "\n\n"
            tokens = self._tokenizer.backend_tokenizer.encode(text).ids
        # The answer's beginning is spelt on its own: the turn's header is a boundary of tokens.
        return [*tokens, *self._spell(prompt.answer)]

    def _spell(self, text: str) -> list[int]:
        try:
            return self.vocabulary.encode(text)
        except GenerationError:
            # What the vocabulary cannot spell is read as the tokenizer's unknown token.
            return list(
                self._tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids
            )

    def _chat(self, turns: list[dict[str, str]]) -> str:
        return str(
            self._tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        )


def _without_system(turns: list[dict[str, str]]) -> list[dict[str, str]]:
    system = "\n\n".join(turn["content"] for turn in turns if turn["role"] == "system")
    rest = [dict(turn) for turn in turns if turn["role"] != "system"]
    if system and rest:
        rest[0]["content"] = f"{system}\n\n{rest[0]['content']}"
    return rest


class _CachedContext(Context):
    def __init__(
        self,
        engine: _Engine,
        vocabulary: Vocabulary,
        prompt: list[int],
        stop: Stop,
    ) -> None:
        self._engine = engine
        self._vocabulary = vocabulary
        self._tokens = prompt
        self._prompt_length = len(prompt)
        self._stop = stop

    def append(self, tokens: Sequence[int]) -> None:
        self._tokens.extend(tokens)

    def rewind(self, count: int) -> None:
        if not 0 <= count <= len(self._tokens) - self._prompt_length:
            raise ValueError(f"cannot take back {count} tokens of an answer")
        if count:
            del self._tokens[-count:]

    def logits(self) -> Logits:
        logits, computed = self._engine.logits(self._tokens, self._stop)
        self.calls += computed
        return self._vocabulary.fit(logits)


class _Engine:
    """One network with one key-value cache, used by one thread at a time."""

    def __init__(self, network: Any, facts: EngineFacts) -> None:
        self.facts = facts
        self._network = network
        self._lock = threading.Lock()
        self._cached: list[int] = []
        self._cache: Any = None
        self._remembered: dict[int, Logits] = {}
        self._piece = 64
        self._stop = go_on
        for layer in _layers(network):
            layer.register_forward_pre_hook(lambda *_: _raise_if(self._stop))

    @property
    def context_length(self) -> int | None:
        length = getattr(self._network.config, "max_position_embeddings", None)
        return int(length) if length else None

    def logits(self, tokens: list[int], stop: Stop) -> tuple[Logits, bool]:
        """Logits behind ``tokens``, and whether they were not known.

        Computes only what the cache does not hold.

        Raises:
            Cancelled: ``stop`` said so, which is asked before each layer; what whole pieces have
                come to stays cached.
        """
        if not tokens:
            raise ValueError("a model needs at least one token to read")
        while not self._lock.acquire(timeout=0.02):
            _raise_if(stop)
        try:
            self._stop = stop
            self._keep(_common_length(tokens, self._cached))
            if len(self._cached) == len(tokens):
                known = self._remembered.get(len(tokens))
                if known is not None:
                    return known, False
                self._keep(len(tokens) - 1)
            while True:
                _raise_if(stop)
                place = len(self._cached)
                logits = self._feed(tokens[place : place + self._piece])
                if len(self._cached) == len(tokens):
                    self._remember(logits)
                    return logits, True
        finally:
            self._lock.release()

    def _keep(self, length: int) -> None:
        surplus = len(self._cached) - length
        if surplus <= 0:
            return
        if length == 0 or not self._cache.is_croppable:
            self._forget()
            return
        self._cache.crop(-surplus)
        del self._cached[length:]
        self._remembered = {at: kept for at, kept in self._remembered.items() if at <= length}

    def _take_piece_back(self) -> None:
        """Some layers have taken the piece, the others have not."""
        if not self._cached or not self._cache.is_croppable:
            self._forget()
            return
        for layer in self._cache.layers:
            layer.crop(min(0, len(self._cached) - int(layer.get_seq_length())))

    def _forget(self) -> None:
        self._cache, self._cached, self._remembered = None, [], {}

    def _feed(self, piece: list[int]) -> Logits:
        import torch
        from transformers import DynamicCache

        if self._cache is None:
            self._cache = DynamicCache(config=self._network.config)
        started = time.perf_counter()
        try:
            with torch.inference_mode():
                output = self._network(
                    input_ids=torch.tensor([piece]),
                    cache=self._cache,
                    use_cache=True,
                    logits_to_keep=1,
                )
                logits = output.logits[0, -1].float().numpy()
        except Cancelled:
            self._take_piece_back()
            raise
        except BaseException:
            self._forget()
            raise
        self._cached.extend(piece)
        if len(piece) == self._piece:
            self._adapt_piece(time.perf_counter() - started)
        return np.asarray(logits, dtype=np.float32)

    def _adapt_piece(self, seconds: float) -> None:
        if seconds > _PIECE_SECONDS * 1.3 and self._piece > _SMALLEST_PIECE:
            self._piece //= 2
        elif seconds < _PIECE_SECONDS / 2.5 and self._piece < _LARGEST_PIECE:
            self._piece *= 2

    def _remember(self, logits: Logits) -> None:
        logits.setflags(write=False)
        self._remembered[len(self._cached)] = logits
        while len(self._remembered) > _REMEMBERED_LOGITS:
            del self._remembered[min(self._remembered)]


def _layers(network: Any) -> Iterable[Any]:
    """The layers that a network computes one after another: its longest list of modules."""
    from torch import nn

    lists = [each for each in network.modules() if isinstance(each, nn.ModuleList)]
    return max(lists, key=len, default=())


def _raise_if(stop: Stop) -> None:
    if stop():
        raise Cancelled


def _common_length(left: list[int], right: list[int]) -> int:
    shorter = min(len(left), len(right))
    if left[:shorter] == right[:shorter]:
        return shorter
    return next(place for place in range(shorter) if left[place] != right[place])


def end_tokens(network: Any, tokenizer: Any) -> set[int]:
    """Every id that model or tokenizer call an end: any of them ends an answer."""
    ends: set[int] = set()
    sources = (getattr(network, "generation_config", None), network.config, tokenizer)
    for source in sources:
        value = getattr(source, "eos_token_id", None)
        if value is not None:
            ends.update(value if isinstance(value, (list, tuple)) else [value])
    return ends


def _has_bfloat16() -> bool:
    import torch

    try:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    except (AttributeError, RuntimeError):
        return False


def _use_int8_weights(network: Any) -> bool:
    """Round the weights of all linear layers to eight bits, for steps of at most four tokens.

    Only the weights are rounded (activations as well would ruin a small model), and prefill keeps
    the
    exact ones: the divergence from float32 stays below 0.01.
    """
    import torch
    from torch import nn

    def forward(layer: Any, rows: torch.Tensor) -> Any:
        if rows.numel() // rows.shape[-1] > 4:
            return nn.functional.linear(rows, layer.weight, layer.bias)
        flat = rows.reshape(-1, rows.shape[-1])
        result = torch.ops.aten._weight_int8pack_mm(flat, layer.int8_weight, layer.int8_scale)
        if layer.bias is not None:
            result = result + layer.bias
        return result.reshape(*rows.shape[:-1], -1)

    try:
        with torch.inference_mode():
            for layer in network.modules():
                if not isinstance(layer, nn.Linear):
                    continue
                weight = layer.weight.detach().float()
                scale = weight.abs().amax(dim=1).clamp(min=1e-8) / 127
                rounded = (weight / scale[:, None]).round().clamp(-127, 127).to(torch.int8)
                layer.int8_weight = rounded.contiguous()
                layer.int8_scale = scale.to(layer.weight.dtype)
            probe = next(layer for layer in network.modules() if isinstance(layer, nn.Linear))
            forward(probe, torch.zeros(1, probe.in_features, dtype=probe.weight.dtype))
    except (AttributeError, RuntimeError, StopIteration):
        return False
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            layer.forward = forward.__get__(layer)  # type: ignore[method-assign]
    return True


def _use_grouped_attention(network: Any) -> None:
    """For a single new token, let query heads that share keys meet them as one matrix product."""
    import torch
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    if getattr(network.config, "model_type", None) != "llama":
        return

    def attention(
        module: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attention_mask: torch.Tensor | None,
        scaling: float | None = None,
        **options: Any,
    ) -> tuple[torch.Tensor, None]:
        batch, heads, length, width = query.shape
        if length > 1 or attention_mask is not None:
            return sdpa_attention_forward(
                module, query, key, value, attention_mask, scaling=scaling, **options
            )
        groups = key.shape[1]
        grouped = query.reshape(batch, groups, heads // groups, width)
        scores = torch.matmul(grouped, key.transpose(2, 3)) * (scaling or width**-0.5)
        mixed = torch.matmul(scores.softmax(dim=-1), value)
        return mixed.reshape(batch, 1, heads, width), None

    AttentionInterface.register("langwright_grouped", attention)
    AttentionMaskInterface.register("langwright_grouped", sdpa_mask)
    network.set_attn_implementation("langwright_grouped")


@contextmanager
def _loading(source: str) -> Iterator[None]:
    """Turn whatever goes wrong while loading into one clear line."""
    folder = Path(source)
    if folder.exists():
        _require_model_folder(folder)
    from transformers.utils import logging

    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        yield
    except (ModelError, KeyboardInterrupt):
        raise
    except Exception as error:
        first_line = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ModelError(f"{source} cannot be loaded as a language model: {first_line}") from error
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _require_model_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise ModelError(
            f"{folder} is a file, not a model folder (a folder with config.json and weights)"
        )
    configuration = folder / "config.json"
    if not configuration.is_file():
        raise ModelError(f"{folder} is not a model folder: it has no config.json")
    try:
        parsed = json.loads(configuration.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ModelError(f"{configuration} cannot be read: {error}") from error
    if not isinstance(parsed, dict) or "model_type" not in parsed:
        raise ModelError(f"{configuration} names no model_type: this is not a model folder")
