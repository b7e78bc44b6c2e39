import subprocess
import sys

WITHOUT = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "polars":
            raise ImportError(name)

sys.meta_path.insert(0, Blocked())
import fewer
X, y = [[0.0, 3.0], [1.0, 9.0], [10.0, 4.0], [11.0, 8.0]] * 3, [0, 0, 1, 1] * 3
print(fewer.SubsetSelector(fewer.criteria.KNN(), fewer.search.Forward(), random_state=0).fit(X, y).support_)
print(fewer.RankSelector(fewer.rankers.ReliefF(2)).fit(X, y).ranking_)
"""


def test_selectors_on_arrays_need_no_polars():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[ True False]", "[1 2]"]
