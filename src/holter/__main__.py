"""``python -m holter``."""

from holter.cli import main

if __name__ == "__main__":
    main()
