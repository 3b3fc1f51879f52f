"""The one exception a user is meant to read."""


class PdsimError(Exception):
    """Something the user can mend: the text names the file, the key, the value and the remedy.

    The command line prints it without a stack trace and exits with code 2.
    """
