import { ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { isObject, type JsonObject, listIn, textIn } from '../platform-api/json.ts'

/**
 * Reads why Amazon did not accept some events of a request. It lists each event either under `success` or under `error`, by
 * index. One API counts from 0, the other from 1, which shows in the indexes. Throws `malformed_response` unless every event is
 * listed exactly once, because it is not known whether an unlisted event was accepted.
 */
export function resultsOf({ status, json }: Answer, sent: number): (string | undefined)[] | undefined {
  if (status >= 300) return undefined
  const refused = entriesOf(json, 'error')
  const entries = [...refused, ...entriesOf(json, 'success')]
  const places = new Set(entries.map(({ index }) => index))
  const isComplete = entries.length === sent && places.size === sent
  // Only as many indexes as there are events, because an answer can list any number.
  const first = isComplete ? Math.min(...places) : -1
  const isInOrder = (first === 0 || first === 1) && Math.max(...places) === first + sent - 1
  if (!isInOrder) {
    throw new ConnectorError('malformed_response', 'Amazon did not report whether it accepted each event.')
  }
  const results = new Array<string | undefined>(sent)
  for (const { index, entry } of refused) results[index - first] = reasonOf(entry)
  return results
}

type Entry = { readonly index: number; readonly entry: JsonObject }

function entriesOf(json: unknown, key: 'success' | 'error'): Entry[] {
  return listIn(isObject(json) ? json[key] : undefined).map((entry) => {
    if (isObject(entry) && Number.isSafeInteger(entry.index)) return { index: Number(entry.index), entry }
    throw new ConnectorError('malformed_response', 'Amazon listed an event without its index.')
  })
}

/** Amazon's codes say why. Its messages are omitted, since they quote what was sent. */
function reasonOf(entry: JsonObject): string {
  const errors = [entry, ...listIn(entry.errors).filter(isObject)]
  const codes = codesIn(errors.flatMap(({ code, errorType }) => [code, errorType]))
  const places = codesIn(errors.flatMap(({ fieldLocation, fieldName }) => [fieldLocation, fieldName]))
  const shown = codes.length > 0 ? ` (${codes.join(', ')})` : ''
  // Errors of Amazon or of the account are not errors of an event.
  for (const code of codes) assertAboutEvent(code)
  const where = places.length > 0 ? places.join(', ') : 'its type, its time, the person, the country and the value'
  return `Amazon did not accept the event${shown}; check ${where}.`
}

const codesIn = (values: readonly unknown[]): string[] => {
  const texts = values
    .flatMap((value) => textIn(value) ?? [])
    .filter((text) => /^[A-Za-z$][\w.$[\]/-]{0,59}$/.test(text))
  return [...new Set(texts)].slice(0, 5)
}

function assertAboutEvent(code: string): void {
  if (/throttl|too_?many_?requests|rate_?limit/i.test(code)) {
    throw new ConnectorError('rate_limited', `Amazon limits how many events it accepts (${code}).`)
  }
  if (/^(internal|service_?unavailable|server_?error|timeout)/i.test(code)) {
    throw new ConnectorError('platform_error', `Amazon has an internal error (${code}).`)
  }
  if (/^(unauthorized|forbidden|access_?denied|permission|not_?authorized)/i.test(code)) {
    const message = `Amazon denies access to the advertiser (${code}); check that the user who signed in may edit in its Events Manager.`
    throw new ConnectorError('permission_denied', message)
  }
}
