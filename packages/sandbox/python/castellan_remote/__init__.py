"""What a remote sandbox runs beside the supervisor, so that a host can come back to a session."""
