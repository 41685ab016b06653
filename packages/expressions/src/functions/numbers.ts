import { isEmpty, shownNumber, spend, type Value } from '../values.ts'
import type { ExpressionFunction, Functions, Run } from './function.ts'

const digitsMax = 12

/** A number rounded by the decimal digits that it shows, so that 1.005 becomes 1.01. */
const rounded =
  (round: (of: number) => number): Run =>
  ([of, digits], { fail }) => {
    if (isEmpty(of)) return null
    const given = isEmpty(digits) ? 0 : (digits as number)
    // A definition goes on with the nearest number of digits.
    const places = Math.min(digitsMax, Math.max(0, Math.trunc(given)))
    if (places !== given) fail(`cannot be rounded to so many decimals: take 0 to ${digitsMax}`)
    if (Number.isInteger(of)) return of
    const moved = Number(`${shownNumber(of as number)}e${places}`)
    return Number.isNaN(moved) ? of : Number(`${round(moved)}e-${places}`)
  }

/** The least or the greatest of the values that are not empty. */
const extreme = (isBetter: (order: number) => boolean): ExpressionFunction => ({
  run: (args, site) => {
    const [first] = args
    const all: readonly Value[] = args.length === 1 && Array.isArray(first) ? first : args
    spend(all.length, site)
    let best: Value
    for (const one of all) {
      if (!isEmpty(one) && (isEmpty(best) || isBetter(site.values.order(one, best, site)))) best = one
    }
    return best
  },
  kindOf: (args) => {
    const kinds = args.filter(({ fixed }) => fixed !== '').map(({ kind }) => kind)
    return kinds.includes('list') ? 'any' : kinds.includes('text') ? 'text' : 'number'
  },
})

/** The functions of numbers. */
export const numberFunctions: Functions = {
  round: rounded((of) => Math.sign(of) * Math.round(Math.abs(of))),
  floor: rounded(Math.floor),
  ceil: rounded(Math.ceil),
  abs: ([of]) => (isEmpty(of) ? null : Math.abs(of as number)),
  min: extreme((order) => order < 0),
  max: extreme((order) => order > 0),
}
