"""Generated from the sources by `python -m fewer.registry`: what can be typed, where it is, what it is."""

INDEX: dict[str, dict[str, tuple[str, str]]] = {
    "criterion": {
        "boundary-share": (
            "fewer.criteria:BoundaryShare",
            "One minus the share of edges of the minimum spanning tree that join different classes",
        ),
        "cfs": (
            "fewer.criteria:CFS",
            "Hall's merit of a subset: k r̄_cf / √(k + k (k − 1) r̄_ff)",
        ),
        "classifiability": (
            "fewer.criteria:Classifiability",
            "Smoothness of the label surface: do rows that lie near each other carry the same label?",
        ),
        "consistency": (
            "fewer.criteria:Consistency",
            "The share of rows that a table of the chosen features gets right: the largest class among equal rows",
        ),
        "cross-validated": (
            "fewer.criteria:CrossValidated",
            "Mean cross-validated score of any scikit-learn estimator on the columns of a subset",
        ),
        "fisher-ratio": (
            "fewer.criteria:FisherRatio",
            "The largest discriminant ratio of any feature in the subset: max (μ₁ − μ₂)² / (σ₁² + σ₂²)",
        ),
        "gamma-test": (
            "fewer.criteria:GammaTest",
            "Minus γ, the noise variance of the target given a subset, estimated from near neighbors",
        ),
        "knn": (
            "fewer.criteria:KNN",
            "Cross-validated accuracy (or R²) of nearest neighbors",
        ),
        "least-squares": (
            "fewer.criteria:LeastSquares",
            "Leave-one-out R² of a linear model",
        ),
        "linear-separability": (
            "fewer.criteria:LinearSeparability",
            "One minus the mean distance by which rows lie on the wrong side of the best plane",
        ),
        "naive-bayes": (
            "fewer.criteria:NaiveBayes",
            "Cross-validated accuracy or area under the ROC curve of naive Bayes",
        ),
        "rann": (
            "fewer.criteria:RANN",
            "How well a random-weight network predicts the target: accuracy, or R² for regression",
        ),
        "separability": (
            "fewer.criteria:Separability",
            "How far apart the classes are, taken as normal distributions. It never falls when a feature is added",
        ),
    },
    "search": {
        "annealing": (
            "fewer.search:Annealing",
            "Random changes of one unit, worse ones accepted less and less often",
        ),
        "backward": (
            "fewer.search:Backward",
            "Backward elimination: drop the least useful unit while little is lost",
        ),
        "best-first": (
            "fewer.search:BestFirst",
            "Always expand the most promising subset that was not expanded yet, wherever it lies",
        ),
        "best-subset": (
            "fewer.search:BestSubset",
            "Find the linear fit of least residual sum of squares of each size; the criterion's score picks the size",
        ),
        "branch-and-bound": (
            "fewer.search:BranchAndBound",
            "The best subset of a size without looking at most of them",
        ),
        "diet": (
            "fewer.search:DIET",
            "All weights start in the middle; the best move of one weight to the next level is made while it helps",
        ),
        "exhaustive": (
            "fewer.search:Exhaustive",
            "Score every allowed subset: exact, where time allows",
        ),
        "floating": (
            "fewer.search:Floating",
            "SFFS and SBFS: after each step in the search's direction, step back for as long as that beats the record",
        ),
        "forward": (
            "fewer.search:Forward",
            "Forward selection: add the unit that helps most, as long as it helps enough",
        ),
        "genetic": (
            "fewer.search:Genetic",
            "A population of subsets that recombine and mutate, the better ones more often",
        ),
        "in-order": (
            "fewer.search:InOrder",
            "Take features in the order of a ranking, and keep each one that raises the score of those kept before it",
        ),
        "lasso-path": (
            "fewer.search:RegularizationPath",
            "Score the nested subsets in which features enter a penalised fit, from the strongest penalty to the weakest",
        ),
        "pbil": (
            "fewer.search:PBIL",
            "A vector of probabilities, one per unit, that moves toward the best subset of each sample",
        ),
        "plus-l-take-away-r": (
            "fewer.search:PlusLTakeAwayR",
            "Add the best units l times, take the worst away r times, and so on",
        ),
        "rfe": (
            "fewer.search:Elimination",
            "Fit the criterion's model, drop what is least important to it, fit again: recursive feature elimination",
        ),
        "significant-forward": (
            "fewer.search:SignificantForward",
            "Forward selection that stops where the next feature is not significantly better on the predicted rows",
        ),
    },
    "control": {
        "aggregate": (
            "fewer.control:Aggregate",
            "Run the search on resamples of the rows and keep the features chosen in enough of them, or the best subset",
        ),
        "boruta": (
            "fewer.control:Shadow",
            "Keep every feature that beats the best of shuffled copies of all features: all-relevant selection, as Boruta",
        ),
        "chosen-noise": (
            "fewer.control:ChosenNoise",
            "Search with several levels of noise without each fold; take the level whose subsets predict the folds best",
        ),
        "correlated": (
            "fewer.control:Correlated",
            "Keep one of the columns that are alike, and none that hardly vary",
        ),
        "early-stopping": (
            "fewer.control:EarlyStopping",
            "Find the step after which the search overfits its training rows, and search all rows no further than that",
        ),
        "fdr": (
            "fewer.control:FalseDiscovery",
            "Keep features by their p-values so that few of those kept are false: Benjamini and Hochberg's procedure",
        ),
        "knockoffs": (
            "fewer.control:Knockoffs",
            "Keep features that beat their knockoffs, with a bound on the false-discovery rate",
        ),
        "noise": (
            "fewer.control:Noise",
            "Score every subset with fresh noise added; a score that depends on a few rows does not survive",
        ),
        "one-standard-error": (
            "fewer.control:OneStandardError",
            "Choose the number of features by cross-validation, then search up to that number",
        ),
        "prefilter": (
            "fewer.control:Prefilter",
            "Keep the best-ranked units only; with `start`, also begin the search from the very best",
        ),
        "probe": (
            "fewer.control:Probe",
            "Keep the features that beat random columns",
        ),
        "stability": (
            "fewer.control:StabilitySelection",
            "Keep features that are chosen again and again from halves of the rows: complementary pairs stability selection",
        ),
    },
    "ranker": {
        "auc": (
            "fewer.rankers:AUC",
            "Area under the ROC curve of each feature by itself: how often is its value larger in one class than in another?",
        ),
        "chi2": (
            "fewer.rankers:Chi2",
            "Chi-squared statistic of each feature with the class, and its p-value",
        ),
        "cmim": (
            "fewer.rankers:CMIM",
            "Conditional mutual information maximization (Fleuret 2004)",
        ),
        "disr": (
            "fewer.rankers:DISR",
            "Double input symmetrical relevance (Meyer and Bontempi 2006)",
        ),
        "each": (
            "fewer.rankers:EACH",
            "Weigh features by whether they agree where the nearest neighbor is right, and disagree where it is wrong",
        ),
        "f-test": (
            "fewer.rankers:FTest",
            "F statistic of each feature with the target, and its p-value",
        ),
        "fcbf": (
            "fewer.rankers:FCBF",
            "Fast correlation-based filter (Yu and Liu 2003): leave out what is closer to a better feature than to the target",
        ),
        "fisher": (
            "fewer.rankers:Fisher",
            "Fisher score of each feature: Σ n_c (m_c − m)² / Σ n_c s_c²",
        ),
        "gain-ratio": (
            "fewer.rankers:GainRatio",
            "Information gain as a share of the feature's own entropy: I(X; Y) / H(X)",
        ),
        "gmlvq": (
            "fewer.rankers:GMLVQRelevance",
            "Rank features by the metric that a prototype classifier learns for them together",
        ),
        "importance": (
            "fewer.rankers:Importance",
            "Importance of each feature in a fitted model, averaged over folds",
        ),
        "information-gain": (
            "fewer.rankers:InformationGain",
            "Mutual information of each feature with the class, H(X) − H(X|Y), in bits",
        ),
        "jim": (
            "fewer.rankers:JIM",
            "Joint impurity (Kursa 2021): as `JMI`, with the Gini impurity of the target in the place of its entropy",
        ),
        "jmi": (
            "fewer.rankers:JMI",
            "Joint mutual information (Yang and Moody 1999)",
        ),
        "jmim": (
            "fewer.rankers:JMIM",
            "Joint mutual information maximization (Bennasar, Hicks and Setchi 2015)",
        ),
        "kendall": (
            "fewer.rankers:KendallTau",
            "Kendall's τ of each feature with the target, and its p-value: do pairs of rows come in the same order in both?",
        ),
        "kolmogorov-smirnov": (
            "fewer.rankers:KolmogorovSmirnov",
            "Kolmogorov and Smirnov's distance of each feature's two class distributions, and its p-value",
        ),
        "kruskal-wallis": (
            "fewer.rankers:KruskalWallis",
            "Kruskal and Wallis' H of each feature, and its p-value: do the ranks differ between the classes?",
        ),
        "mann-whitney": (
            "fewer.rankers:MannWhitney",
            "Mann and Whitney's U of each feature for two classes, and its p-value: are values of one class the larger ones?",
        ),
        "mifs": (
            "fewer.rankers:MIFS",
            "Mutual information with the target, minus redundancy with the features already ranked (Battiti)",
        ),
        "mrmr": (
            "fewer.rankers:MRMR",
            "Maximal relevance, minimal redundancy (Peng, Long and Ding 2005)",
        ),
        "multisurf": (
            "fewer.rankers:MultiSURF",
            "Weigh features by all rows that are near by each row's own distances",
        ),
        "mutual-information": (
            "fewer.rankers:MutualInformation",
            "Mutual information of each feature with the target, estimated by nearest neighbors, in nats",
        ),
        "one-r": (
            "fewer.rankers:OneR",
            "Share of rows that a rule on this feature alone gets right: the most frequent class in each of its bins",
        ),
        "permutation": (
            "fewer.rankers:Permutation",
            "Loss of score on held-out rows when a feature is shuffled, averaged over folds and repeats",
        ),
        "relief": (
            "fewer.rankers:Relief",
            "Weigh features by the one nearest row of the same class and the one nearest of any other class",
        ),
        "relieff": (
            "fewer.rankers:ReliefF",
            "Weigh features by the nearest rows of the same class and of each other class",
        ),
        "rrelieff": (
            "fewer.rankers:RReliefF",
            "Weigh features for a numeric target by the nearest rows",
        ),
        "shap": (
            "fewer.rankers:Shap",
            "Mean size of a feature's SHAP values on held-out rows, averaged over folds",
        ),
        "spearman": (
            "fewer.rankers:Spearman",
            "Rank correlation of each feature with the target, and its p-value",
        ),
        "surf": (
            "fewer.rankers:SURF",
            "Weigh features by all rows nearer than the mean distance of the table",
        ),
        "symmetrical-uncertainty": (
            "fewer.rankers:SymmetricalUncertainty",
            "Information gain as a share of the mean entropy of feature and class: 2 I(X; Y) / (H(X) + H(Y))",
        ),
    },
}
