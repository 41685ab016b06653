import { isObject, type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'

/** The lines of an answer with items that were not accepted. */
export const linesIn = (json: unknown): JsonObject[] => listIn(objectIn(json).FailedLines).filter(isObject)

/**
 * The number of the rejected item of a line, from 1: from a separate field, or from its message (“Invalid UID2, item #2”). 0 if
 * it has no number.
 */
export const itemNumberOf = ({ ItemNumber, Message }: JsonObject): number =>
  numberIn(ItemNumber) ?? Number(/\bitem #(\d+)/i.exec(String(Message))?.[1] ?? 0)

/** A code of The Trade Desk, fit to be shown: `InvalidPrivacySetting`. */
export function codeOf(value: unknown): string {
  const code = textIn(value) ?? ''
  return /^\w{1,60}$/.test(code) ? code : 'Unknown'
}

/** Why a line was not taken. @param reasons codes in sentences */
export function reasonOf({ ErrorCode }: JsonObject, reasons: Readonly<Record<string, string>>, other: string): string {
  const code = codeOf(ErrorCode)
  return `${Object.hasOwn(reasons, code) ? reasons[code] : other} (${code}).`
}
