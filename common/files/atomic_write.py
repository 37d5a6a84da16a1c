"""Files that are there whole or not at all, as files.hpp makes them."""

import os
import pathlib
import tempfile


def write_atomically(path, text):
    """Raises OSError where it cannot be written; what was there before is there still."""
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    if (path.exists() and not path.is_file()) or path.parts[:2] == ("/", "dev"):  # such as /dev/stdout, which is no file to replace
        with open(path, "ab") as file:
            file.write(data)
        return
    path = pathlib.Path(os.path.realpath(path))  # a link stays a link
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, path.stat().st_mode & 0o7777 if path.exists() else 0o644)  # mkstemp's are for their owner alone
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
