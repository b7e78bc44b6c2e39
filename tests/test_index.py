from importlib import import_module

from fewer.registry import INDEX


def test_every_entry_leads_to_what_it_names():
    for components in INDEX.values():
        for name, address in components.items():
            module, _, attribute = address.partition(":")
            found = getattr(import_module(module), attribute)
            assert name == name.lower()
            assert found.__doc__.strip()
