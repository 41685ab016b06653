import type { Values } from '@penstock/connector'
import { isObject, type JsonObject, parseJson, textIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'

/** Completes a contact by its lists, tags and custom fields, or says why ActiveCampaign would refuse it, and all of the request with it. */
export function contactOf(contact: JsonObject, row: BatchRow, { listId }: Values): Read<JsonObject> {
  const named = splitText(row.text('list_ids'))
  const ids = named.length > 0 ? named : splitText(textIn(listId))
  const lists = [...new Set(ids.map(numberOf))].map((listid) => ({ listid }))
  if (lists.some(({ listid }) => !listid)) return wrong('A list of ActiveCampaign has a number as its ID.', 'list_ids')
  const isLeaving = contact['@action'] === 'remove'
  if (isLeaving && lists.length === 0) {
    return wrong('The row has no list that the contact could be removed from.', 'list_ids')
  }
  const fields = fieldsIn(row.text('fields'))
  if (!fields) return wrong('The value must be JSON with custom fields by their IDs: {"5": "Gold"}.', 'fields')
  const tags = splitText(row.text('tags'))
  return {
    read: {
      ...contact,
      ...(tags.length > 0 && { tags }),
      ...(fields.length > 0 && { fields }),
      ...(lists.length > 0 && { [isLeaving ? 'unsubscribe' : 'subscribe']: lists }),
    },
  }
}

/**
 * Custom fields: from an object of values by the fields' IDs, or from a list of `{"id": …, "value": …}`. `undefined` for
 * anything else.
 */
function fieldsIn(text = '{}'): JsonObject[] | undefined {
  const json = parseJson(text)
  const pairs = isObject(json) ? Object.entries(json).map(([id, value]) => ({ id, value })) : json
  if (!Array.isArray(pairs)) return undefined
  const fields = pairs.map((pair) => {
    const { id, value } = isObject(pair) ? pair : {}
    return { id: numberOf(textIn(id) ?? ''), value: typeof value === 'boolean' ? String(value) : textIn(value) }
  })
  return fields.every(({ id }) => id) ? fields.filter(({ value }) => value !== undefined) : undefined
}

/** The parts of a text with commas between them, or of a list that is written as JSON. */
function splitText(text = ''): string[] {
  const json = text.startsWith('[') ? parseJson(text) : undefined
  const parts = Array.isArray(json) ? json.map((part) => textIn(part) ?? '') : text.split(/[,;|]/)
  return [...new Set(parts.map((part) => part.trim()).filter((part) => part !== ''))]
}

const numberOf = (text: string): number | undefined => (/^[1-9]\d{0,9}$/.test(text.trim()) ? Number(text) : undefined)
