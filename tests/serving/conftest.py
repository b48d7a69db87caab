"""A small vault for whoever serves one."""

from __future__ import annotations

import pytest

from workbench import Vault


@pytest.fixture
def notes(vault: Vault) -> Vault:
    vault.write("Tea.md", "# Tea\n\nGreen tea is brewed at 70 degrees.\n")
    vault.write("Boats.md", "# Boats\n\nThe dinghy has a red sail.\n")
    return vault
