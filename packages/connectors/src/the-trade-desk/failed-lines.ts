import { numberIn } from '../platform-api/json.ts'

/**
 * The number of the item that a line means which was not taken, from 1: in a field of its own, or in its message (“Invalid
 * UID2, item #2”). 0 where it has none.
 */
export const itemNumberOf = ({ ItemNumber, Message }: Readonly<Record<string, unknown>>): number =>
  numberIn(ItemNumber) ?? Number(/\bitem #(\d+)/i.exec(String(Message))?.[1] ?? 0)
