/** Expressions over the columns of a row: which rows are sent, and values that are made of several columns. Pure functions. */

export { compileExpression, compileFilter, type Expression, type HashKey } from './columns.ts'
export { type Fix, type Problem, problemOf, reasonOf } from './values.ts'
