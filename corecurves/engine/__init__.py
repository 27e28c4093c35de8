"""The engine: plan, runner, ledger, Dataset. It knows no system and no model."""
