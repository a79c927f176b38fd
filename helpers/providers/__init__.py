"""The only door to models: one async function a provider, one retry policy for all, one reader of the environment."""

from helpers.providers.keys import addresses, missing_keys
from helpers.providers.meanings import Failure
from helpers.providers.pacing import Clock, Limit, most_tokens
from helpers.providers.serving import as_served
from helpers.providers.session import GIVEN_UP, Session, Stopped, Tries, retirement
from helpers.providers.transport import Sent

__all__ = [
    "GIVEN_UP",
    "Clock",
    "Failure",
    "Limit",
    "Sent",
    "Session",
    "Stopped",
    "Tries",
    "addresses",
    "as_served",
    "missing_keys",
    "most_tokens",
    "retirement",
]
