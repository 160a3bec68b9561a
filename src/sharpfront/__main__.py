"""``python -m sharpfront`` is the command line."""

from sharpfront.cli import main

if __name__ == "__main__":
    main()
