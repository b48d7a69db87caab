"""An embedder that is asked, but not waited for."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from hindbrain.base.errors import EmbedderDown, EmbedderError
from hindbrain.models.fake import FakeEmbedder
from hindbrain.models.patience import PatientEmbedder


class Hanging:
    """Answers no query before it is let go."""

    name, dim = "hanging", 4

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.asked = 0

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        return np.ones((len(texts), 4), dtype=np.float32) / 2

    def embed_query(self, text: str) -> np.ndarray:
        assert text
        self.asked += 1
        self.let_go.wait()
        return np.ones(4, dtype=np.float32) / 2


class Moment:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_quick_embedder_answers_as_if_nobody_stood_between() -> None:
    inner = FakeEmbedder()
    patient = PatientEmbedder(inner)
    assert (patient.embed_query("tea") == inner.embed_query("tea")).all()
    assert (patient.embed_documents(["tea"]) == inner.embed_documents(["tea"])).all()
    assert (patient.name, patient.dim) == (inner.name, inner.dim)


def test_one_question_waits_for_a_service_that_hangs_and_no_other_does() -> None:
    inner, moment = Hanging(), Moment()
    patient = PatientEmbedder(inner, patience_s=0.01, monotonic=moment)
    for _ in range(50):
        with pytest.raises(EmbedderDown):
            patient.embed_query("tea")
    assert inner.asked == 1
    inner.let_go.set()


def test_a_service_that_came_back_is_asked_again() -> None:
    inner, moment = Hanging(), Moment()
    patient = PatientEmbedder(inner, patience_s=0.01, monotonic=moment)
    with pytest.raises(EmbedderDown):
        patient.embed_query("tea")
    inner.let_go.set()
    _until_answered(patient)
    assert patient.embed_query("tea").shape == (4,)


def test_a_service_that_failed_late_rests_for_a_while() -> None:
    class Late(Hanging):
        def embed_query(self, text: str) -> np.ndarray:
            super().embed_query(text)
            raise EmbedderError("no")

    inner, moment = Late(), Moment()
    patient = PatientEmbedder(inner, patience_s=0.01, rest_s=30.0, monotonic=moment)
    with pytest.raises(EmbedderDown):
        patient.embed_query("tea")
    inner.let_go.set()
    _until_answered(patient)
    with pytest.raises(EmbedderDown):
        patient.embed_query("tea")
    assert inner.asked == 1
    moment.now += 31
    with pytest.raises(EmbedderError):
        patient.embed_query("tea")
    assert inner.asked == 2


def _until_answered(patient: PatientEmbedder) -> None:
    """The thread that nobody waits for has done its work."""
    for thread in threading.enumerate():
        if thread.name == "hindbrain-embed":
            thread.join(5)
