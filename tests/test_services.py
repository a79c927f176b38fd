"""What makes a service known: its module, and one entry in one place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from inspect import iscoroutinefunction, signature
from pathlib import Path

import pytest

from helpers import paths
from helpers.providers.transport import module_of
from helpers.services import SERVICES
from helpers.types import Model

#: A service that exists nowhere: its entry and its module, put in before anything else of the project is loaded.
NEW = """
import asyncio, json, os, sys, types
from pathlib import Path
from helpers.services import SERVICES, Service

SERVICES["acme"] = Service(
    keys=("ACME_CODE",), address="ACME_URL", token_parameter="most", sdk="acme-sdk",
    limits={"requests": "acme-{}-calls"},
)

from helpers.config import load_limits, load_models
from helpers.export import this_run
from helpers.providers import Sent, Session, addresses, missing_keys
from helpers.providers.meanings import told_limits
from helpers.check import variables
from helpers.types import Completion, Request


class Client(list):
    async def close(self):
        self.append("closed")


async def send(client, request):
    return Sent(json.dumps([client[0], request.params]))


acme = types.ModuleType("helpers.providers.acme")
acme.client, acme.send = lambda model, key: Client([key]), send
acme.read = lambda raw: Completion("", "ok", text=raw, finish="stop")
sys.modules[acme.__name__] = acme

folder, records = Path(sys.argv[1]), []
model = load_models(folder / "models.yaml")["theirs"]
told = {"missing": missing_keys([model]), "addresses": addresses([model])}
told["limit"] = [*load_limits(path=folder / "limits.yaml")]
headers = {"acme-limit-calls": "60", "acme-remaining-calls": "30", "acme-reset-calls": "10"}
told["headers"] = {counted: each.remaining for counted, each in told_limits(headers, 0.0).items()}
told["key"] = "ACME_CODE" in variables()
told["version"] = "acme-sdk" in this_run()["versions"]


async def asked():
    async with Session(lambda request: None, lambda request, completion: records.append(completion)) as session:
        reply = await session.complete(Request(model, "Hello"))
        return {"client": session.client(model)[0], "reply": reply.text, "recorded": records[0].text}


os.environ["ACME_CODE"] = "c0de-of-acme"
print(json.dumps(told | asyncio.run(asked())))
"""


def test_one_entry_and_a_module_make_a_service_known_everywhere(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text("theirs: {provider: acme, model_id: a-1, vendor: acme, max_tokens: 7}\n")
    (tmp_path / "limits.yaml").write_text("acme: {requests_per_minute: 60}\n")
    environment = {**os.environ, "ACME_URL": "http://127.0.0.1:9/acme"}
    environment.pop("ACME_CODE", None)
    run = subprocess.run(
        [sys.executable, "-c", NEW, str(tmp_path)], capture_output=True, text=True, env=environment, cwd=paths.ROOT
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {
        "missing": {"ACME_CODE": ["theirs"]},
        "addresses": {"ACME_URL": "http://127.0.0.1:9/acme"},
        "limit": ["acme"],
        "headers": {"requests": 30.0},
        "key": True,
        "version": True,
        "client": "c0de-of-acme",
        # In what came back, a key that the entry names is struck out like any other.
        "reply": '["[ACME_CODE]", {"most": 7}]',
        "recorded": '["[ACME_CODE]", {"most": 7}]',
    }


@pytest.mark.parametrize("name", SERVICES)
def test_the_module_of_a_service_speaks_to_it_in_three_functions(name: str) -> None:
    module, asked = module_of(name), {"client": 2, "send": 2, "read": 1}
    assert {each: len(signature(getattr(module, each)).parameters) for each in asked} == asked
    assert {each for each in asked if iscoroutinefunction(getattr(module, each))} == {"send"}
    assert iscoroutinefunction(module.client(Model("m", name, "m", "x"), "none").close)
    assert metadata.version(SERVICES[name].sdk)
