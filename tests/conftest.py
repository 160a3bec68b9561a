"""What is drawn depends on the test alone: not on the day, on a database, or on other tests."""

import gc
import os

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")
# Figures are drawn into memory, whatever the machine has.
os.environ["MPLBACKEND"] = "Agg"

# Hypothesis also draws numbers that stand in the source of whatever is imported by then, which are
# others when a file runs alone. There is no setting for that.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = Constants


def pytest_collection_finish() -> None:
    """Look for garbage less often, and not among modules and tests: a twelfth of all time."""
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)


# Cases that take seconds, and of which others of the same test ask nearly the same.
SLOW_CASES = (
    "test_cli.py::test_interrupt_gives_130_and_leaves_nothing[1.5]",
    "test_solids_drawn.py::test_a_smooth_solution_on_a_drawn_solid[pierced]",
    "test_solids_drawn.py::test_slopes_on_curved_surfaces[1]",
    "test_steady.py::test_a_peak_takes_patches_where_it_is[0.31-0.72-2000]",
    "test_corner_enrichment.py::test_functions_find_what_cuts_find_and_estimates_are_true[2]",
    "test_corner_enrichment.py::test_winds_into_right_angles_are_solved_without_functions_that_do_not_fit[25.0-0.0]",
    "test_flux_on_holes.py::test_given_fluxes_through_holes_have_the_right_sign[0.07--0.53-0.004-3.0]",
    "test_solids_drawn.py::test_a_smooth_solution_on_a_drawn_solid[bitten]",
    "test_patchwork.py::test_a_jump_inside_an_opaque_function_is_not_called_solved[0.62]",
    "test_waves.py::test_waves_that_are_short_in_one_place_take_short_patches_there_only[corner1]",
    "test_explorer.py::test_a_problem_is_explored_with_the_keyboard_alone[375]",
    "test_one_patch.py::test_a_resonance_is_told_or_its_error_is[waves1]",
    "test_slants.py::test_first_patches_hold_fronts_along_lines_that_cross[0-7000]",
    "test_plates_at_corners.py::test_plates_on_sectors_are_solved_and_estimates_are_true[1]",
    "test_bands.py::test_a_curve_too_small_for_strips_takes_no_room_from_others[1e-06]",
    "test_bands.py::test_materials_with_a_slanted_edge[0.35-50.0]",
    "test_tangencies.py::test_boxes_are_cut_along_what_leaves_a_disk[0]",
    "test_sweep.py::test_patches_of_a_neighbour_are_cut_where_they_do_not_do[0.045-0.8-0.0001]",
    "test_sweep.py::test_the_estimate_on_the_patches_of_a_neighbour_grows_as_the_error_does[0.21-0.8]",
    "test_sweep.py::test_the_estimate_on_the_patches_of_a_neighbour_grows_as_the_error_does[0.19-0.75]",
    "test_mitres.py::test_strips_end_on_walls_beside_which_nothing_decays[2]",
    "test_mitres.py::test_strips_end_on_walls_beside_which_nothing_decays[3]",
    "test_plane_problems.py::test_errors_over_space_and_time_are_below_their_bounds[turning-pulse]",
    "test_nonlinear_in_space.py::test_a_smooth_solution_is_found_and_its_error_told[ball-conducted]",
    "test_nonlinear_in_space.py::test_a_smooth_solution_is_found_and_its_error_told[prism-carried]",
    "test_balance.py::test_a_box_that_leaks_is_told_with_both_numbers[0.0-2.0]",
    "test_balance.py::test_searches_end_before_they_are_long[domain1-1e-07]",
    "test_corners.py::test_data_that_contradict_each_other_are_named_with_their_values[left-1.0-domain1]",
    "test_units.py::test_unknowns_far_from_another_are_each_known_to_their_own_size[1.0-1e+22]",
    "test_error_units.py::test_growth_in_the_plane_is_followed_from_small_starts[40.0-1e-09-1.0-1-alone]",
    "test_error_units.py::test_growth_in_the_plane_is_followed_from_small_starts[21.0-1e-09-0.01-2-periodic]",
    "test_error_units.py::test_growth_in_the_plane_is_followed_from_small_starts[18.0-1e-08-0.01-1-coupled]",
    "test_time_data_plane.py::test_a_pulse_in_the_diffusivity[0.8231-0.0003]",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark single cases as slow."""
    for item in items:
        if item.nodeid.endswith(SLOW_CASES):
            item.add_marker("slow")
