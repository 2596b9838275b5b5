// Each node's registration. SPDX-License-Identifier: Apache-2.0
#pragma once
class OP_OperatorTable;

namespace oz {
void add_step(OP_OperatorTable *table);
void add_solver(OP_OperatorTable *table);
void add_source(OP_OperatorTable *table);
void add_collider(OP_OperatorTable *table);
void add_loads(OP_OperatorTable *table);
void add_surface(OP_OperatorTable *table);
void add_gas();
} // namespace oz
