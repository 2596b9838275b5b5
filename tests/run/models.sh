#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# models.sh OOZE: a key that a model is said not to read has no effect in it, and one that it reads
# has no such warning. The warnings say which keys those are; a run with all of them set to
# something else must end the same.
ooze=$1
# shellcheck source=/dev/null
. "$(dirname "$0")/begin.sh"
cat >scene.json <<'EOF'
{"solver": {"particle_separation": 0.02, "substeps": 3},
 "materials": {"goo": {"viscosity": 5}},
 "fluids": {"block": {"material": "goo", "shape": "box", "size": [0.1, 0.1, 0.1],
                      "position": [0, 0.07, 0]}},
 "colliders": {"floor": {"shape": "plane", "friction": 0.4}},
 "output": {"frames": [1, 4], "fps": 30}}
EOF
others="solver.velocity_iterations=3 solver.velocity_tolerance=0.5 solver.corotation=false
 solver.gradient_correction=false solver.zero_energy=0.5 solver.rest_filter=0
 solver.split_compliance=false solver.position_iterations=2 solver.wall_density=false
 materials.goo.viscosity=50 materials.goo.relaxation_time=0.2 materials.goo.yield_stress=30
 materials.goo.consistency=20 materials.goo.flow_index=0.5 materials.goo.thinning_time=1
 materials.goo.thinned_viscosity=1 materials.goo.solvent_viscosity=10
 materials.goo.extensibility=5 materials.goo.second_viscosity=20
 materials.goo.second_relaxation_time=0.2 materials.goo.compliance=0.01
 materials.goo.mixing=0.001 materials.goo.conductivity=1 materials.goo.surface_tension=0.05
 materials.goo.cohesion=100
 solver.links_beta_cold=1.1 solver.links_beta_hot=1.1 solver.springs_elasticity=0.9
 solver.springs_viscosity=1 solver.blend_alpha=0.1 solver.cauchy_young=5 solver.cauchy_tension=1
 solver.scheme=paper"
# end_of KEY=VALUE...: bounds of the positions at the end; attributes that are only carried along
# are not looked at
end_of() {
  sets=""
  for one in "$@"; do sets="$sets --set $one"; done
  # shellcheck disable=SC2086
  "$ooze" run scene.json -o out --quiet $sets 2>said &&
    "$ooze" info out/points/scene.0004.bgeo.sc | grep bounds
}
for model in conformation links springs blend cauchy; do
  sets=""
  for one in $others; do sets="$sets --set $one"; done
  # shellcheck disable=SC2086
  "$ooze" info scene.json --set "solver.model=$model" $sets >said 2>&1
  unread="" read=""
  for one in $others; do
    if grep -qF "warning: ${one%%=*}: has no effect" said; then
      unread="$unread $one"
    else
      read="$read $one"
    fi
  done
  plain=$(end_of "solver.model=$model")
  # shellcheck disable=SC2086
  changed=$(end_of "solver.model=$model" $unread)
  if [ -z "$plain" ] || [ "$plain" != "$changed" ]; then
    echo "FAILED: $model: one of$unread is said to have no effect, but it ends with"
    echo "$changed"
    echo "and not"
    echo "$plain"
    failed=1
  fi
  case $model in # values that each is known to read must not be warned of
  conformation)
    known="solver.velocity_iterations materials.goo.viscosity materials.goo.yield_stress
 materials.goo.consistency solver.wall_density" ;;
  links) known="solver.links_beta_cold solver.position_iterations" ;;
  springs) known="solver.springs_elasticity solver.springs_viscosity" ;;
  blend) known="solver.blend_alpha materials.goo.viscosity materials.goo.surface_tension" ;;
  cauchy) known="solver.cauchy_tension materials.goo.viscosity" ;;
  esac
  for key in $known; do
    case $read in
    *"$key="*) ;;
    *) echo "FAILED: $model: $key is said to have no effect" && failed=1 ;;
    esac
  done
done
# bodies: a scene is refused where its model has none, before anything is written, and runs
# elsewhere
body='"material": "goo", "shape": "box", "size": [0.08, 0.08, 0.08], "position": [0, 0.25, 0]'
body="bodies={\"b\": {$body}}"
for model in conformation links springs blend cauchy; do
  "$ooze" run scene.json -o "body_$model" --quiet --frames 1-2 --set "solver.model=$model" \
    --set "$body" >said 2>&1
  code=$?
  case $model in
  blend | cauchy)
    [ $code = 2 ] && grep -qF "bodies: the model $model has no bodies" said &&
      [ ! -e "body_$model" ] ||
      { echo "FAILED: $model with a body: code $code"; cat said; failed=1; } ;;
  *) [ $code = 0 ] || { echo "FAILED: $model with a body: code $code"; cat said; failed=1; } ;;
  esac
done
told="solver.blend_alpha: has no effect: it belongs to the model blend; this scene's is springs"
"$ooze" info scene.json --set solver.model=springs --set solver.blend_alpha=1 2>&1 |
  grep -qF "$told" || failed=1
exit $failed
