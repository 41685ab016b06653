import { ConnectorError, type Values } from '@penstock/connector'
import { isObject, listIn, parseJson, textIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'

export type Contact = {
  readonly email: string
  readonly first_name?: string
  readonly last_name?: string
  readonly phone?: string
  readonly customer_acct_name?: string
  readonly tags?: readonly string[]
  readonly fields?: readonly { readonly id: number; readonly value: string }[]
  readonly subscribe?: readonly { readonly listid: number }[]
  readonly unsubscribe?: readonly { readonly listid: number }[]
}

/** The list for rows that name none. */
export function listOf({ listId }: Values): number | undefined {
  const text = String(listId ?? '').trim()
  if (text === '') return undefined
  const id = numberOf(text)
  if (id !== undefined) return id
  throw new ConnectorError('invalid_setting', 'List ID must be the number of a list at ActiveCampaign.')
}

/** Makes a contact of a row, or says why ActiveCampaign would refuse it, and all of the request with it. */
export function contactOf(list: number | undefined, row: BatchRow): Read<Contact> {
  const email = row.text('email')
  if (email === undefined) return wrong('The e-mail address is missing.', 'email')
  const lists = listsOf(list, row)
  if ('wrong' in lists) return lists
  const fields = fieldsOf(row)
  if ('wrong' in fields) return fields
  const tags = splitText(row.text('tags'))
  const texts = {
    first_name: row.text('first_name'),
    last_name: row.text('last_name'),
    phone: row.text('phone'),
    customer_acct_name: row.text('account_name'),
  }
  return {
    read: {
      email,
      // What is empty would overwrite what is there.
      ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)),
      ...(tags.length > 0 ? { tags } : {}),
      ...(fields.read.length > 0 ? { fields: fields.read } : {}),
      ...lists.read,
    },
  }
}

function listsOf(list: number | undefined, row: BatchRow): Read<Pick<Contact, 'subscribe' | 'unsubscribe'>> {
  const action = row.text('action')?.toLowerCase() ?? 'add'
  if (action !== 'add' && action !== 'remove') return wrong('The action must be add or remove.', 'action')
  const named = splitText(row.text('list_ids')).map(numberOf)
  if (named.some((id) => id === undefined)) return wrong('A list of ActiveCampaign has a number as its ID.', 'list_ids')
  const ids = named.length > 0 ? named.filter((id) => id !== undefined) : list === undefined ? [] : [list]
  const lists = [...new Set(ids)].map((listid) => ({ listid }))
  if (action === 'add') return { read: lists.length > 0 ? { subscribe: lists } : {} }
  return lists.length > 0
    ? { read: { unsubscribe: lists } }
    : wrong('The row has no list that the contact could be removed from.', 'list_ids')
}

/** Custom fields: an object of values by the fields' IDs, or a list of `{"id": …, "value": …}`. */
function fieldsOf(row: BatchRow): Read<{ id: number; value: string }[]> {
  const text = row.text('fields')
  if (text === undefined) return { read: [] }
  const json = parseJson(text)
  const pairs = isObject(json)
    ? Object.entries(json)
    : Array.isArray(json)
      ? json.map((one) => (isObject(one) ? [one.id, one.value] : [undefined, undefined]))
      : [[undefined, undefined]]
  const fields: { id: number; value: string }[] = []
  for (const [key, content] of pairs) {
    const id = numberOf(textIn(key) ?? '')
    const value = typeof content === 'boolean' ? String(content) : textIn(content)
    if (id === undefined) {
      return wrong('The value must be JSON with custom fields by their IDs: {"5": "Gold"}.', 'fields')
    }
    if (value !== undefined) fields.push({ id, value })
  }
  return { read: fields }
}

/** The parts of a text with commas between them, or of a list that is written as JSON. */
function splitText(text: string | undefined): string[] {
  if (text === undefined) return []
  const json = text.startsWith('[') ? parseJson(text) : undefined
  const parts = Array.isArray(json) ? listIn(json).map((part) => textIn(part) ?? '') : text.split(/[,;|]/)
  return [...new Set(parts.map((part) => part.trim()).filter((part) => part !== ''))]
}

const numberOf = (text: string): number | undefined => (/^[1-9]\d{0,9}$/.test(text.trim()) ? Number(text) : undefined)
