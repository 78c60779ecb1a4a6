/* Special functions of float64 numbers that SciPy's compiled module hands out as addresses. */
#ifndef ONAX_TAPE_SPECIAL_H
#define ONAX_TAPE_SPECIAL_H

/* The functions: how many, the names of their addresses in `scipy.special.cython_special`, and how many numbers each
   takes. */
int onax_special_count(void);
const char *onax_special_name(int function);
int onax_special_arity(int function);
void onax_special_attach(int function, void *address);

#endif
