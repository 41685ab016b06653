import { isObject, type JsonObject } from '../platform-api/json.ts'

/** Helpers of facts about reports. */

/** A list of rows in an answer. `undefined` if it is not a list, or contains an element that is not an object. */
export const rowsIn = (value: unknown): readonly JsonObject[] | undefined =>
  Array.isArray(value) && value.every(isObject) ? value : undefined

/** The same for answers that omit an empty list. @param answer the value that must be an object */
export const rowsOrNone = (answer: unknown, key: string): readonly JsonObject[] | undefined =>
  isObject(answer) ? rowsIn(answer[key] ?? []) : undefined
