import { type Facts, facts } from './facts.ts'
import type { ExpressionFunction, Functions } from './function.ts'
import { numberFunctions } from './numbers.ts'
import { textFunctions } from './texts.ts'
import { timeFunctions } from './times.ts'
import { valueFunctions } from './values.ts'

const values: Functions = { ...textFunctions, ...valueFunctions, ...numberFunctions, ...timeFunctions }

/** The functions of expressions by name. The compiler evaluates functions of lists, whose second argument is a name. */
export const functions: ReadonlyMap<string, Facts & ExpressionFunction> = new Map(
  facts
    .filter(({ subject }) => subject !== 'Operators')
    .map((known) => {
      const value = values[known.name]
      return [known.name, { ...known, ...(typeof value === 'function' ? { run: value } : value) }]
    }),
)
