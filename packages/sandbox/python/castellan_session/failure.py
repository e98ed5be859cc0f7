"""Why the supervisor did not do what was asked, in the words of the protocol's `failed`."""

import errno
import os


class Failure(Exception):
    """`reason` is one of `not_found`, `invalid`, `exhausted`, `too_many_files`; the message is fit for the user."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


_exhausted = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}


def of(error: OSError, what: str) -> Failure:
    """The failure that a refusal of the system is."""
    said = os.strerror(error.errno) if error.errno is not None else "the system refused"
    if error.errno == errno.ENOENT or error.errno == errno.ENOTDIR:
        return Failure("not_found", f"{what}: no such file or folder")
    if error.errno == errno.ELOOP:
        return Failure("invalid", f"{what}: a link is not followed")
    return Failure("exhausted" if error.errno in _exhausted else "invalid", f"{what}: {said.lower()}")
