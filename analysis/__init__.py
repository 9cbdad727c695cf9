"""From what was measured to models with error bars, and from models to predictions. Knows no device."""
