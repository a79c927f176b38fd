"""The only door to models: one async function a provider, one retry policy for all, one reader of the environment."""

from helpers.providers.allowance import Limit, most_tokens
from helpers.providers.envelopes import TIMEOUT_SECONDS, Sent
from helpers.providers.environment import addresses, in_browser, missing_keys
from helpers.providers.failures import Failure, classify
from helpers.providers.pacing import Clock
from helpers.providers.retrying import Tries
from helpers.providers.session import GIVEN_UP, Session, Stopped, retirement

__all__ = [
    "GIVEN_UP",
    "TIMEOUT_SECONDS",
    "Clock",
    "Failure",
    "Limit",
    "Sent",
    "Session",
    "Stopped",
    "Tries",
    "addresses",
    "classify",
    "in_browser",
    "missing_keys",
    "most_tokens",
    "retirement",
]
