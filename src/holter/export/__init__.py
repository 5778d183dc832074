"""A log written in another format: what it says, under the names it uses, and what could not be carried."""
