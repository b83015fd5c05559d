"""Ten thousand workers, simulated."""

from .cards import Cluster, cluster
from .models import Model, models
from .steps import Grid, Impossible, Step, best, search, step
