"""Files that are there whole or not at all, as output_file.hpp makes them."""

import os
import tempfile


def write_whole(path, text):
    """Raises OSError where it cannot be written; what was there before is there still."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode("utf-8"))
        os.chmod(temporary, 0o644)  # mkstemp's files are for their owner alone
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
