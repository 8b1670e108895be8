"""scikit-learn's own checks of an estimator, on every estimator there is."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    check_dataframe_column_names_consistency,
    check_estimator,
)
from sklearn.utils.fixes import parse_version

import structlearn.estimators as estimators
from structlearn.estimators import (
    AROW,
    CRF,
    HMM,
    AdaGrad,
    MultiLabelClassifier,
    PassiveAggressive,
    PerToken,
    StructuredModel,
    StructuredPerceptron,
    StructuredSVM,
)

NO_INTERCEPT = {
    "check_class_weight_classifiers": "expects nearly every point to get the heaviest class, which "
    "a model without intercept cannot: where one class has the best score at x, another has at -x"
}
A_STEP_AN_EXAMPLE = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "an online learner takes one step of an example of weight 2, and two of an example seen twice",
)
A_ROW_AN_EXAMPLE = {
    **dict.fromkeys(
        ("check_classifiers_train", "check_classifiers_one_label_sample_weights"),
        "expects (n,) predictions for an (n, 1) y; a row an example is what all others get",
    ),
    **dict.fromkeys(
        ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
        "expects a column a class of predict_proba, which has the probability of each label",
    ),
    "check_classifiers_classes": "gives names of classes, (n,), where y has a column a label",
}
if parse_version(sklearn.__version__) < parse_version("1.7"):
    A_ROW_AN_EXAMPLE |= dict.fromkeys(
        A_STEP_AN_EXAMPLE, "made two classes of three by the first, another one of shuffled data"
    )


class OneLabel(MultiLabelClassifier):
    """Takes what scikit-learn's checks give for y: a column of k and k + 1 in place of 0 and 1."""

    def fit(self, X, y, sample_weight=None):
        column = np.asarray(y)
        if column.shape[1:] == (1,) and column.dtype.kind in "ifO" and np.ptp(column) == 1:
            y = column - column.min()
        return super().fit(X, y, sample_weight)


# Learners that solve a problem do so exactly: whatever leads to the same problem gives the same.
EXACT = {"tol": 1e-13, "max_iter": 2000}
ESTIMATORS = [
    (StructuredPerceptron("multiclass"), NO_INTERCEPT | A_STEP_AN_EXAMPLE),
    (PassiveAggressive("multiclass"), NO_INTERCEPT | A_STEP_AN_EXAMPLE),
    (AdaGrad("multiclass"), NO_INTERCEPT | A_STEP_AN_EXAMPLE),
    (AROW("multiclass"), NO_INTERCEPT | A_STEP_AN_EXAMPLE),
    (StructuredSVM("multiclass", **EXACT), NO_INTERCEPT),
    (StructuredSVM("multiclass", solver="sgd"), NO_INTERCEPT | A_STEP_AN_EXAMPLE),
    (CRF("multiclass", **EXACT), NO_INTERCEPT),
    (StructuredModel("multiclass", temperature=0.5, **EXACT), NO_INTERCEPT),
    (OneLabel(CRF(solver="lbfgs", **EXACT)), A_ROW_AN_EXAMPLE),
    (HMM(), {}),
    (CRF(), {}),
]


def name_of(value):
    return "" if isinstance(value, dict) else type(value).__name__


@pytest.mark.parametrize(("estimator", "expected"), ESTIMATORS, ids=name_of)
def test_scikit_learn_checks(estimator, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            estimator, expected_failed_checks=expected, on_skip=None, on_fail=None
        )
    failed = {
        r["check_name"]: repr(r["exception"])
        for r in results
        if r["status"] not in ("passed", "skipped", "xfail")
    }
    assert failed == {}
    # No reason is given for what works.
    assert not {r["check_name"] for r in results if r["status"] == "passed"} & set(expected)
    takes_arrays = get_tags(estimator).input_tags.two_d_array
    assert len(results) > (60 if takes_arrays else 0)


def test_no_estimator_is_left_out():
    public = {getattr(estimators, name) for name in estimators.__all__}
    there = {one for one in public if isinstance(one, type) and issubclass(one, BaseEstimator)}
    checked = {cls for estimator, _ in ESTIMATORS for cls in type(estimator).__mro__}
    assert there - {PerToken} <= checked  # which transforms lists of tokens, and no arrays


class WithIntercept(CRF):
    """A CRF on features with a constant one."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(with_constant(X), y, sample_weight)

    def predict(self, X):
        return super().predict(with_constant(X))


def with_constant(X):
    return np.column_stack([X, np.full(len(X), 100.0)])


def test_the_intercept_is_why():
    """A constant feature, hardly regularised, is all that the check of class weights asks for."""
    with pytest.raises(AssertionError):
        check_class_weight_classifiers("CRF", CRF("multiclass"))
    check_class_weight_classifiers("CRF", WithIntercept("multiclass"))


@pytest.mark.parametrize(
    "estimator",
    [estimator for estimator, _ in ESTIMATORS if get_tags(estimator).input_tags.two_d_array],
    ids=name_of,
)
def test_names_of_pandas_columns(estimator):
    pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_dataframe_column_names_consistency(type(estimator).__name__, clone(estimator))
