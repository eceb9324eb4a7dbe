"""The man pages, from the help of the commands and from the documents."""
