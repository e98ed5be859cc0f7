"""The Linux tier: a fork-server, and the walls that each of its sessions closes behind itself."""
