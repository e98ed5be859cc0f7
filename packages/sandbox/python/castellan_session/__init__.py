"""The two processes of a session: the supervisor and the interpreter that is its fork. Standard library only."""
