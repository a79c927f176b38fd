"""The only door to models: one async function a provider, one retry policy for all, one reader of the environment.

A provider is a module with `client(model, key)` (which has an asynchronous `close()`), `send(client, request) -> Sent`
(the raw body) and `read(raw) -> Completion`; where the SDK can tell it also `retires(model_id)`. Its SDK is imported
inside, without its own retries, on `transport.http_client()`; what its errors and endings mean stands in meanings.toml,
how calls wait in policy.toml. It has an entry in services.toml, and its variables in .env.example and the README.
"""

from .keys import addresses, missing_keys
from .meanings import Failure
from .pacing import Clock, Limit, most_tokens
from .serving import as_served
from .session import GIVEN_UP, Session, Stopped, Tries, retirement
from .transport import Sent
