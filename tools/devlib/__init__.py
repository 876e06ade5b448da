"""The commands of tools/dev, one module each."""
