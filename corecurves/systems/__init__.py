"""Systems: things that take turns and keep memory."""
