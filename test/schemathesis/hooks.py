"""Who calls: the administrator, with a new token where the last one may have been ended."""

import json
import os
import urllib.request

import schemathesis

# After these no other call may be rejected for a token that has ended.
ENDS_TOKENS = {
    "changePassword",
    "invalidateAccountTokens",
    "invalidateNamedAccountTokens",
    "invalidateOwnTokens",
    "invalidateSystemTokens",
    "logout",
}
# A request line and headers beyond 32 KiB are rejected before an operation is known.
LONGEST_ADDRESS = 30_000

LOGIN = os.environ["FLOTILLA_LOGIN_URL"]
CREDENTIALS = {"identity": os.environ["FLOTILLA_LOGIN_IDENTITY"], "password": os.environ["FLOTILLA_LOGIN_PASSWORD"]}

token = None


def log_in():
    body = json.dumps(CREDENTIALS).encode()
    request = urllib.request.Request(LOGIN, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)["token"]


def operation_id(case):
    return case.operation.definition.raw.get("operationId")


@schemathesis.auth(refresh_interval=None)
class Administrator:
    def get(self, case, context):
        global token
        token = token or log_in()
        return token

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = f"Bearer {data}"


@schemathesis.hook
def after_call(context, case, response):
    global token
    if operation_id(case) in ENDS_TOKENS and response.status_code < 300:
        token = None


@schemathesis.hook
def filter_case(context, case):
    return len(json.dumps(case.query or {})) < LONGEST_ADDRESS


# Rejections that follow from what is stored, or from two fields together, have codes of their own. These are the fields
# whose rules a schema cannot express and that are rejected as InvalidParameter.
FIELD_RULES = json.loads(os.environ["FLOTILLA_FIELD_RULES"])


def is_within(path, fields):
    return any(path == field or path.startswith((f"{field}.", f"{field}[")) for field in fields)


@schemathesis.check
def rejected_by_a_rule(context, response, case):
    """Holds what `positive_data_acceptance` lets through with 400 to the rules that are documented."""
    if response.status_code != 400 or not case.meta.generation.mode.is_positive:
        return
    error = response.json()
    if error["error"] == "InvalidParameter":
        fields = FIELD_RULES.get(operation_id(case), [])
        paths = [detail.get("path", "") for detail in error.get("details", [])]
        assert paths and all(is_within(path, fields) for path in paths), f"valid data is rejected: {error['message']}"
    elif error["error"] == "InvalidJson":
        # No string of a body may hold U+0000, which schemas do not express.
        body = response.request.body or b""
        text = body if isinstance(body, str) else body.decode("utf-8", "replace")
        assert "\\u0000" in text or "\\ud" in text.lower(), f"valid JSON is rejected: {error['message']}"
