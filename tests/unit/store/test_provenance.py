"""Git state, command, secrets."""

import subprocess

import pytest

from holter.store import provenance
from holter.store.provenance import git_state
from holter.store.redaction import command_without_secrets, names_secret, without_secrets
from tests.patience import PATIENCE


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def test_the_same_changes_have_the_same_hash(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "GIT_SECONDS", PATIENCE)
    git(tmp_path, "init", "-b", "main")
    (tmp_path / "train.py").write_text("a = 1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    clean = git_state(tmp_path)
    assert clean["branch"] == "main"
    assert len(clean["commit"]) == 40
    assert (clean["dirty"], clean["diff"]) == (False, None)
    (tmp_path / "train.py").write_text("a = 2\n")
    dirty = git_state(tmp_path)
    assert dirty["dirty"]
    assert dirty == git_state(tmp_path)
    (tmp_path / "train.py").write_text("a = 3\n")
    assert git_state(tmp_path)["diff"] != dirty["diff"]


def test_outside_git_there_is_no_state(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_state(tmp_path) is None


@pytest.mark.parametrize(
    "name",
    [
        "hub_token",
        "HF_TOKEN",
        "WANDB_API_KEY",
        "api-key",
        "--hub-token",
        "db_password",
        "aws_secret_access_key",
        "client_secret",
        "push_to_hub_token",
        "token",
    ],
)
def test_secrets_are_known_by_their_names(name):
    assert names_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens",
        "eos_token",
        "pad_token_id",
        "num_tokens",
        "stop_token",
        "tokenizer",
        "bos_token",
        "reward_keys",
        "key",
    ],
)
def test_tokens_of_text_are_no_secrets(name):
    assert not names_secret(name)


def test_secrets_do_not_reach_the_manifest():
    said = without_secrets(
        {
            "hub_token": "abc",
            "eos_token": "</s>",
            "url": "https://user:pa55@example.org/x",
            "nested": {"api_key": "k", "list": ["hf_" + "a" * 30]},
            "empty": {"password": ""},
        }
    )
    assert said == {
        "hub_token": "<hidden>",
        "eos_token": "</s>",
        "url": "https://<hidden>@example.org/x",
        "nested": {"api_key": "<hidden>", "list": ["<hidden>"]},
        "empty": {"password": ""},
    }


def test_secrets_do_not_reach_the_command():
    command = ["train.py", "--hub_token", "abc", "--api-key=def", "--eos_token", "</s>", "--verbose", "sk-" + "b" * 30]
    assert command_without_secrets(command) == [
        "train.py",
        "--hub_token",
        "<hidden>",
        "--api-key=<hidden>",
        "--eos_token",
        "</s>",
        "--verbose",
        "<hidden>",
    ]
