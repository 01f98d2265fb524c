"""`python -m olive_iw` is `olive-iw`."""

from olive_iw.cli import main

if __name__ == "__main__":
    main()
