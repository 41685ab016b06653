/**
 * Expressions over the columns of a row: they decide which rows are sent, and compute values from several columns. Pure
 * functions.
 */

export { compileExpression, compileFilter, type Expression, type HashKey } from './columns.ts'
export { type Fix, type Problem, problemOf, reasonOf } from './values.ts'
