"""Models: stateless text models, by name, behind one form."""
