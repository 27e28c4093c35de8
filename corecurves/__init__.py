"""Learning curves of systems that are taught by correction.

How fast does a system become competent as it is corrected (`run_lane`), and does what it learned
survive being compressed? Every run returns an xarray Dataset; a summary is a separate, pure call,
and a plot draws exactly what the summary returns.
"""

import lazy_loader as _lazy

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
