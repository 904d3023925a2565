"""`python -m headwater`: the same command line as the `headwater` program."""

from headwater.cli import program

if __name__ == "__main__":
    program()
