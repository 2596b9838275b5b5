/* Every header with the formulas of stages, for the backends that make loops and kernels of them
 * (stages.def). SPDX-License-Identifier: Apache-2.0 */
#ifndef OZ_PHYSICS_FORMULAS_H
#define OZ_PHYSICS_FORMULAS_H

#include "physics/arrive.h"
#include "physics/body.h"
#include "physics/boundary_particles.h"
#include "physics/conformation.h"
#include "physics/density.h"
#include "physics/filter.h"
#include "physics/heat.h"
#include "physics/law_stages.h"
#include "physics/load.h"
#include "physics/mixing.h"
#include "physics/motion.h"
#include "physics/mps.h"
#include "physics/nozzle.h"
#include "physics/paper.h"
#include "physics/projection.h"
#include "physics/strain.h"
#include "physics/rules.h"
#include "physics/sharpen.h"
#include "physics/shift.h"
#include "physics/soft.h"
#include "physics/sph.h"
#include "physics/springs.h"
#include "physics/tension.h"
#include "physics/viscous.h"
#include "physics/wall.h"

#endif
