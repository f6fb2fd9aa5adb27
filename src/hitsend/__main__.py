"""`python -m hitsend` is the `hitsend` command."""

from hitsend.cli import main

if __name__ == "__main__":
    main()
