import { isObject, type JsonObject } from '../platform-api/json.ts'

/** Helpers of facts about reports. */

/** A list of rows in an answer; `undefined` if it is none, or has an element that is no object. */
export const rowsIn = (value: unknown): readonly JsonObject[] | undefined =>
  Array.isArray(value) && value.every(isObject) ? value : undefined

/** The same of an answer that leaves out a list which would be empty. @param answer what must be an object */
export const rowsOrNone = (answer: unknown, key: string): readonly JsonObject[] | undefined =>
  isObject(answer) ? rowsIn(answer[key] ?? []) : undefined

/** A parameter of an address, such as that of the next page; `undefined` if there is no address, or it has none. */
export function parameterOf(address: unknown, name: string): string | undefined {
  if (typeof address !== 'string') return undefined
  const query = address.slice(address.indexOf('?') + 1)
  return new URLSearchParams(address.includes('?') ? query : '').get(name) ?? undefined
}
