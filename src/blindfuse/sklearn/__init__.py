"""scikit-learn estimators: ensembles of classifiers, regressors and clusterings, fused blindly."""

from blindfuse.errors import needs_extra

with needs_extra("sklearn"):
    from blindfuse.sklearn.classifier import BlindVotingClassifier
    from blindfuse.sklearn.clusterer import BlindClusterEnsemble
    from blindfuse.sklearn.regressor import BlindVotingRegressor

__all__ = ["BlindClusterEnsemble", "BlindVotingClassifier", "BlindVotingRegressor"]
