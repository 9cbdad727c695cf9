"""Files that `ansible-vault encrypt` made beside the inventory: plays read them, and do not run without the key."""

import json
from pathlib import Path

import pytest

from tests.support.ansible_play import ANSIBLE, play
from tests.support.needs import needs


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    needs(ANSIBLE)


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    """An inventory of one node, half of whose variables are in a vaulted file; the key is beside it."""
    inventory = {
        "all": {
            "vars": {"ansible_user": "root", "ansible_connection": "local"},
            "children": {"nodes": {"hosts": {"n01": {"ansible_host": "127.0.0.1", "data_address": "192.0.2.1"}}}},
        }
    }
    (tmp_path / "hosts.yml").write_text(json.dumps(inventory))
    (tmp_path / "key").write_text("key-of-ours")
    folder = tmp_path / "group_vars" / "nodes"
    folder.mkdir(parents=True)
    vault = folder / "vault.yml"
    vault.write_text(json.dumps({"mac": "00:00:5e:00:53:01", "nodes_eee": "sometimes"}))
    done = play("encrypt", "--vault-password-file", str(tmp_path / "key"), str(vault), tool="ansible-vault")
    assert done.returncode == 0, done.stderr
    assert vault.read_text().startswith("$ANSIBLE_VAULT;")
    system = json.dumps({"system_distribution": "Debian", "system_version": "12"})
    return ("-i", str(tmp_path / "hosts.yml"), "site.yml", "-e", system)


@pytest.mark.slow
def test_plays_read_a_vaulted_file(words: tuple[str, ...], tmp_path: Path) -> None:
    key = ("--vault-password-file", str(tmp_path / "key"))
    done = play(*words, *key, "--syntax-check")
    assert done.returncode == 0, done.stderr
    done = play(*words, *key, "--check", "--diff")
    assert done.returncode == 2
    # The address from the open file and the MAC from the vaulted one are there; the vaulted word is judged.
    assert "lacks" not in done.stdout
    assert "nodes_eee and nodes_turbo are" in done.stdout


@pytest.mark.slow
def test_without_the_key_nothing_runs(words: tuple[str, ...]) -> None:
    done = play(*words, "--check")
    assert done.returncode != 0
    assert "no vault secrets" in done.stdout + done.stderr
    assert "changed=" not in done.stdout
