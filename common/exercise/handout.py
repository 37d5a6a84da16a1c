"""A copy of the repository for students."""
