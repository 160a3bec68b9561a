"""``python -m sharpfront.cli``."""

from sharpfront.cli import main

if __name__ == "__main__":
    main()
