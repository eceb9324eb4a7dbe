"""What tests against real servers and daemons stand on: hosts in processes of their own, launches, networks, places."""
