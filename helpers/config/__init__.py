"""What defines a run: YAML files and notebook parameters, read strictly into frozen records."""

from helpers.config.experiments import (
    COLLECTING,
    COMMON,
    STYLES,
    builtin_knowledge,
    collection_names,
    experiment_names,
    limits_of,
    load_collection,
    load_config,
    load_experiment,
)
from helpers.config.models import AUDITED, LimitEntry, load_contexts, load_limits, load_models, model_of, perhaps
from helpers.config.yaml_text import ConfigError, Strict, checked, line_of, parse_yaml, read_yaml
from helpers.types import Experiment
