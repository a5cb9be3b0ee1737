"""Asks PAM whether a password belongs to a login name.

Standard input: service NUL login name NUL password NUL. Exit status: 0 yes, 1 no, 2 PAM cannot decide.
An argument names a directory of PAM service files to use in place of the system's.
"""

import ctypes
import signal
import sys

LIFETIME_SECONDS = 10
YES, NO, UNKNOWN = 0, 1, 2
PAM_SUCCESS, PAM_BUF_ERR = 0, 5
# A module that cannot be loaded or fails inside, no memory, an unavailable directory server, a stack that gives up.
# Everything else but success rejects the login: many modules have one code for all their reasons.
NO_VERDICT = {1, 2, 3, 5, 9, 26}
PROMPT_ECHO_OFF, PROMPT_ECHO_ON = 1, 2
SILENT, DISALLOW_NULL_PASSWORD = 0x8000, 0x1


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


class Response(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("code", ctypes.c_int)]


CONVERSE = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_int,
    ctypes.POINTER(ctypes.POINTER(Message)),
    ctypes.POINTER(ctypes.POINTER(Response)),
    ctypes.c_void_p,
)


class Conversation(ctypes.Structure):
    _fields_ = [("converse", CONVERSE), ("data", ctypes.c_void_p)]


def load():
    libc = ctypes.CDLL(None)
    libc.calloc.restype = ctypes.c_void_p
    libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
    libc.strdup.restype = ctypes.c_void_p
    libc.strdup.argtypes = [ctypes.c_char_p]
    pam = ctypes.CDLL("libpam.so.0")
    handle = ctypes.c_void_p
    start = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Conversation)]
    pam.pam_start.argtypes = [*start, ctypes.POINTER(handle)]
    pam.pam_authenticate.argtypes = [handle, ctypes.c_int]
    pam.pam_acct_mgmt.argtypes = [handle, ctypes.c_int]
    pam.pam_end.argtypes = [handle, ctypes.c_int]
    return libc, pam


def conversation_of(libc, name, password):
    """A conversation that gives the password to hidden prompts and the name to visible ones. PAM frees the replies."""

    @CONVERSE
    def converse(count, messages, responses, _data):
        memory = libc.calloc(count, ctypes.sizeof(Response))
        if not memory:
            return PAM_BUF_ERR
        replies = ctypes.cast(memory, ctypes.POINTER(Response))
        for index in range(count):
            style = messages[index].contents.style
            if style == PROMPT_ECHO_OFF:
                replies[index].text = libc.strdup(password)
            elif style == PROMPT_ECHO_ON:
                replies[index].text = libc.strdup(name)
        responses[0] = replies
        return PAM_SUCCESS

    return converse


def ask(service, name, password, directory):
    libc, pam = load()
    handle = ctypes.c_void_p()
    conversation = Conversation(conversation_of(libc, name, password), None)
    if directory is None:
        code = pam.pam_start(service, name, ctypes.byref(conversation), ctypes.byref(handle))
    else:
        pam.pam_start_confdir.argtypes = [*pam.pam_start.argtypes[:3], ctypes.c_char_p, pam.pam_start.argtypes[3]]
        code = pam.pam_start_confdir(
            service, name, ctypes.byref(conversation), directory.encode(), ctypes.byref(handle)
        )
    if code != PAM_SUCCESS:
        return UNKNOWN
    flags = SILENT | DISALLOW_NULL_PASSWORD
    code = pam.pam_authenticate(handle, flags)
    if code == PAM_SUCCESS:
        code = pam.pam_acct_mgmt(handle, flags)
    pam.pam_end(handle, code)
    if code == PAM_SUCCESS:
        return YES
    return UNKNOWN if code in NO_VERDICT else NO


def main():
    signal.alarm(LIFETIME_SECONDS)
    parts = sys.stdin.buffer.read().split(b"\0")
    if len(parts) != 4 or not parts[0] or not parts[1] or parts[3]:
        return UNKNOWN
    try:
        return ask(parts[0], parts[1], parts[2], sys.argv[1] if len(sys.argv) > 1 else None)
    except (OSError, AttributeError):
        return UNKNOWN


sys.exit(main())
