"""The services that sell replies: services.toml says what is particular to each besides its wire format."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit

from .paths import load_table


@dataclass(frozen=True)
class Service:
    """What is particular to a service besides its wire format; the fields are explained in services.toml."""

    keys: Sequence[str]
    address: str
    token_parameter: str
    sdk: str
    older_token_parameter: str | None = None
    limits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    frame: Sequence[int] = (200, 700)
    dearer_writes: float = 0.0


#: By the name that models.yaml and limits.yaml call them.
SERVICES = {name: Service(**entry) for name, entry in load_table("services.toml").items()}


@cache
def own_server(url: str | None) -> bool:
    """Whether an address is one's own machine or network, where calls cost nothing.

    >>> own_server("http://127.0.0.1:8000/v1"), own_server("http://gpu-box:8000/v1"), own_server("http://api.x.com/v1")
    (True, True, False)
    """
    host = urlsplit(url or "").hostname
    if not host:
        return False
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan"))


def token_parameter(provider: str, elsewhere: bool) -> str:
    """What a provider calls the limit of a reply, at its own address or behind a `base_url`."""
    service = SERVICES.get(provider)
    return (elsewhere and service.older_token_parameter) or service.token_parameter if service else "max_tokens"


def token_parameters() -> tuple[str, ...]:
    """Every name of that limit, each once."""
    return tuple(dict.fromkeys(token_parameter(name, elsewhere) for name in SERVICES for elsewhere in (False, True)))
