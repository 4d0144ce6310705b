/* The calls of the interface, as skel.c makes them. */
#ifndef PF_MODULE_H
#define PF_MODULE_H

#include "wire.h"

void pf_module_query(struct pf_hello *hello);
void pf_module_start(const struct pf_start *start, struct pf_hello *hello);
void pf_module_stop(struct pf_hello *hello);

#endif
