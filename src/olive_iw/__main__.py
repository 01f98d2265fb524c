"""`python -m olive_iw` is `olive-iw`."""

from olive_iw.cli.main import main

if __name__ == "__main__":
    main()
