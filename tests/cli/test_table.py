from fewer.cli._options import ColumnOptions, Rows, table_options


def test_what_was_typed_becomes_options_of_the_reader():
    options = table_options(
        ColumnOptions(nominal="zip, code", missing="NA,-", decimal=",", skip=True), Rows(groups="patient", weights="w")
    )
    assert options["nominal"] == ["zip", "code"]
    assert options["missing"] == ["NA", "-"]
    assert options["decimal"] == ","
    assert (options["groups"], options["sample_weight"], options["time"]) == ("patient", "w", None)
    assert options["skip_rows_without_target"]
    assert table_options()["missing"] is None
    assert table_options()["encoding"] is None
