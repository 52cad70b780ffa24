"""A package without steps, with a module that has one."""
