import { ConnectorError, type DestinationContext } from '@penstock/connector'
import type { SendPeople, SentPeople } from '../kit/audience-facts.ts'
import type { PlatformCall, PlatformClient } from '../platform-api/client.ts'
import { type JsonObject, numberIn } from '../platform-api/json.ts'
import {
  externalKey,
  externalPath,
  limitedKey,
  limitedPath,
  pageScopedColumn,
  personColumns,
  valueKey,
} from './audience-columns.ts'

/** The values of people, each in the order of the schema. Missing values are empty. */
export type People = readonly (readonly unknown[])[]

/** Meta's names of paths of ours. */
const keys: Readonly<Record<string, string>> = { [limitedPath]: limitedKey, [externalPath]: externalKey }

/** Opens what adds people to audiences and removes them. Throws like `openPayloads`. */
export function openSender(client: PlatformClient, context: DestinationContext): SendPeople {
  const { dataOf, payloadOf } = openPayloads(context)
  return async (people, { audience, verb }) => {
    // Only the identifiers are used to find people to remove.
    const found = verb === 'add' ? people : people.map(({ [valueKey]: _, [limitedKey]: __, ...person }) => person)
    const payload = payloadOf(dataOf(found))
    const method = verb === 'add' ? 'POST' : 'DELETE'
    return sendPeople(client, { method, path: `/${audience}/users`, body: { payload } }, people.length)
  }
}

/**
 * How people are written in the requests of a transfer, which all have the schema of its columns. Throws `invalid_setting` if
 * IDs for a page have no page.
 */
export function openPayloads({ columns, settings }: DestinationContext) {
  const mapped = Object.entries(personColumns).filter(([name]) => columns.includes(name))
  const schema = [...new Set(mapped.map(([, { to }]) => keys[to] ?? to))]
  // No options are an empty list, and not an empty text.
  const noneOf = (key: string) => (key === limitedKey ? [] : '')
  const pages = columns.includes(pageScopedColumn) ? { page_ids: [pageIn(settings.pageId)] } : {}
  return {
    dataOf: (people: readonly JsonObject[]): People =>
      people.map((person) => schema.map((key) => person[key] ?? noneOf(key))),
    payloadOf: (data: People) => ({ schema, data, ...pages }),
  }
}

function pageIn(pageId: unknown): string {
  const id = String(pageId ?? '').trim()
  if (/^\d+$/.test(id)) return id
  const message = 'Page-scoped IDs need the setting “Page ID”, the number of the page at Meta that they belong to.'
  throw new ConnectorError('invalid_setting', message)
}

/** Sends people. Meta accepts people whom it can use, and reports how many others there are. */
export async function sendPeople(client: PlatformClient, call: PlatformCall, people: number): Promise<SentPeople> {
  const { json, bytesSent: bytes } = await client.askObject(call)
  const unseen = Math.max(0, people - (numberIn(json.num_received) ?? people))
  const count = Math.min(people, unseen + (numberIn(json.num_invalid_entries) ?? 0))
  const reason = 'Meta could not use the identifiers; it does not report the rows.'
  return { bytes, blamed: [], missed: [{ count, reason }] }
}
