"""``python -m corecurves``."""

from corecurves.cli import main

if __name__ == "__main__":
    main()
