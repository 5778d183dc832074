"""What is read of files that are followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.runs.follow import Tail

if TYPE_CHECKING:
    import pytest


def counted(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The pieces that are read of followed files from now on."""
    read: list[bytes] = []
    plain = Tail._rest

    def counting(tail, file):
        for data in plain(tail, file):
            read.append(data)
            yield data

    monkeypatch.setattr(Tail, "_rest", counting)
    return read
