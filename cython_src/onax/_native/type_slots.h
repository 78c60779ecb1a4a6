/* Operators whose errors are reported to `onax_operator_failed` on their way to the caller.

   Each slot of a type that is in use is replaced by a function that calls the one that was there.  Method wrappers such
   as `__add__` hold the slot's function as well and hand it on to subclasses, so they are given the new function too. */

#ifndef ONAX_TYPE_SLOTS_H
#define ONAX_TYPE_SLOTS_H

#include <Python.h>

static void (*onax_operator_failed)(void);

/* Puts `fresh` where a method of the type holds `old`. */
static void onax_rewrap(PyTypeObject *type, void *old, void *fresh)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(type->tp_dict, &at, &name, &value))
        if (Py_TYPE(value) == &PyWrapperDescr_Type && ((PyWrapperDescrObject *)value)->d_wrapped == old)
            ((PyWrapperDescrObject *)value)->d_wrapped = fresh;
}

/* The slots: SLOT(T, table, name, type of the result, result that means error, parameters, arguments). */
#define ONAX_BINARY(SLOT, T, table, name) SLOT(T, table, name, PyObject *, NULL, (PyObject *a, PyObject *b), (a, b))
#define ONAX_UNARY(SLOT, T, table, name) SLOT(T, table, name, PyObject *, NULL, (PyObject *a), (a))
#define ONAX_EACH_SLOT(SLOT, T)                                                                        \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_add)                                                       \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_subtract)                                                  \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_multiply)                                                  \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_true_divide)                                               \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_floor_divide)                                              \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_remainder)                                                 \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_divmod)                                                    \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_matrix_multiply)                                           \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_and)                                                       \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_or)                                                        \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_xor)                                                       \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_lshift)                                                    \
    ONAX_BINARY(SLOT, T, tp_as_number->, nb_rshift)                                                    \
    SLOT(T, tp_as_number->, nb_power, PyObject *, NULL, (PyObject *a, PyObject *b, PyObject *c), (a, b, c)) \
    ONAX_UNARY(SLOT, T, tp_as_number->, nb_negative)                                                   \
    ONAX_UNARY(SLOT, T, tp_as_number->, nb_positive)                                                   \
    ONAX_UNARY(SLOT, T, tp_as_number->, nb_absolute)                                                   \
    ONAX_UNARY(SLOT, T, tp_as_number->, nb_invert)                                                     \
    ONAX_UNARY(SLOT, T, tp_as_number->, nb_int)                                                        \
    ONAX_UNARY(SLOT, T, tp_as_number->, nb_float)                                                      \
    ONAX_UNARY(SLOT, T, tp_as_number->, nb_index)                                                      \
    SLOT(T, tp_as_number->, nb_bool, int, -1, (PyObject *a), (a))                                      \
    ONAX_BINARY(SLOT, T, tp_as_mapping->, mp_subscript)                                                \
    SLOT(T, tp_as_mapping->, mp_length, Py_ssize_t, -1, (PyObject *a), (a))                            \
    SLOT(T, tp_as_mapping->, mp_ass_subscript, int, -1, (PyObject *a, PyObject *b, PyObject *c), (a, b, c)) \
    SLOT(T, tp_as_sequence->, sq_length, Py_ssize_t, -1, (PyObject *a), (a))                           \
    SLOT(T, tp_as_sequence->, sq_contains, int, -1, (PyObject *a, PyObject *b), (a, b))                \
    ONAX_UNARY(SLOT, T, , tp_iter)                                                                     \
    ONAX_UNARY(SLOT, T, , tp_str)                                                                      \
    ONAX_UNARY(SLOT, T, , tp_repr)                                                                     \
    SLOT(T, , tp_hash, Py_hash_t, -1, (PyObject *a), (a))                                              \
    SLOT(T, , tp_richcompare, PyObject *, NULL, (PyObject *a, PyObject *b, int op), (a, b, op))

#define ONAX_GUARDED(T, table, name, result, fault, parameters, arguments) \
    static result(*T##_inner_##name) parameters;                           \
    static result T##_##name parameters                                    \
    {                                                                      \
        result found = T##_inner_##name arguments;                         \
        if (found == fault && PyErr_Occurred()) onax_operator_failed();              \
        return found;                                                      \
    }

#define ONAX_INSTALLED(T, table, name, result, fault, parameters, arguments)          \
    if (type->table name != NULL && type->table name != T##_##name) {                 \
        T##_inner_##name = type->table name;                                          \
        type->table name = T##_##name;                                                \
        onax_rewrap(type, (void *)T##_inner_##name, (void *)T##_##name);              \
    }

ONAX_EACH_SLOT(ONAX_GUARDED, array)
ONAX_EACH_SLOT(ONAX_GUARDED, value)

/* The operators of the class of all arrays, and of that of values in memory. */
static void onax_guard_array(PyTypeObject *type)
{
    ONAX_EACH_SLOT(ONAX_INSTALLED, array)
    PyType_Modified(type);
}

static void onax_guard_value(PyTypeObject *type)
{
    ONAX_EACH_SLOT(ONAX_INSTALLED, value)
    PyType_Modified(type);
}

/* Calls of compiled functions. */
#define ONAX_CALL(SLOT, T) SLOT(T, , tp_call, PyObject *, NULL, (PyObject *a, PyObject *b, PyObject *c), (a, b, c))
ONAX_CALL(ONAX_GUARDED, jit)

static void onax_guard_jit(PyTypeObject *type)
{
    ONAX_CALL(ONAX_INSTALLED, jit)
    PyType_Modified(type);
}

#endif
