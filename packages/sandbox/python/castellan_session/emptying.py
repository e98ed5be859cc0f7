"""How a folder of a session is emptied, whatever a program put into it."""

import os

from .entries import FOLDER, is_folder


def empty(top: int) -> None:
    """Removes everything in a folder with three descriptors and no recursion, however deep it is: a folder that is not
    empty moves up to the top under a new name, and its turn comes."""
    counter = 0
    while True:
        with os.scandir(top) as found:
            below = [entry.name for entry in found]
        if not below:
            return
        for name in below:
            if not is_folder(name, top):
                os.unlink(name, dir_fd=top)
                continue
            try:
                fd = os.open(name, FOLDER, dir_fd=top)
            except PermissionError:
                # It is our own, and closed to ourselves.
                os.chmod(name, 0o700, dir_fd=top)
                fd = os.open(name, FOLDER, dir_fd=top)
            try:
                os.fchmod(fd, 0o700)
                with os.scandir(fd) as found:
                    inner = [entry.name for entry in found]
                for deeper in inner:
                    if is_folder(deeper, fd):
                        counter += 1
                        os.rename(deeper, f".castellan-removed-{os.getpid()}-{counter}", src_dir_fd=fd, dst_dir_fd=top)
                    else:
                        os.unlink(deeper, dir_fd=fd)
            finally:
                os.close(fd)
            os.rmdir(name, dir_fd=top)
