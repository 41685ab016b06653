import { type JsonObject, listIn, objectIn, textIn } from '../../platform-api/json.ts'
import { original } from './asked-keys.ts'
import { expressionOf, type Notes, note, templateOf } from './texts.ts'

const actions = { IGNORE: 'ignore', SUCCESS: 'accept', FAIL: 'fail', RETRY: 'retry', RATE_LIMITED: 'wait' } as const

/** Imports rules of errors. Times to wait are those of the connector. */
export function importRules(handler: JsonObject, notes: Notes): object[] {
  const where = 'retriever.requester.error_handler'
  const { type, error_handlers: handlers, response_filters: filters, backoff_strategies: waits } = handler
  if (typeof type === 'string' && type.startsWith('Custom')) note(notes, where, `${type} cannot be carried.`)
  for (const one of listIn(waits)) {
    const wait = textIn(objectIn(original(one)).type)
    if (wait?.startsWith('Custom')) note(notes, `${where}.backoff_strategies`, `${wait} cannot be carried.`)
  }
  const below = listIn(handlers).flatMap((one) => importRules(objectIn(one), notes))
  const own = listIn(filters).flatMap((one) => {
    const filter = objectIn(one)
    const path = `${where}.response_filters`
    const given = textIn(filter.action)?.toUpperCase() ?? 'FAIL'
    const action = actions[given as keyof typeof actions]
    if (filter.type !== undefined && filter.type !== 'HttpResponseFilter')
      note(notes, path, `${filter.type} cannot be carried.`)
    if (!Object.hasOwn(actions, given)) note(notes, path, `The action ${given} cannot be carried.`)
    // The first part that fits counts, so each is a rule.
    const status = [filter.http_codes ?? []].flat().map(Number)
    const contains = textIn(filter.error_message_contains)
    const when = filter.predicate ? expressionOf(filter.predicate, notes, path, 'answer') : undefined
    return [
      ...(status.length > 0 ? [{ status, action }] : []),
      ...(contains ? [{ contains: templateOf(contains, notes, path), action }] : []),
      ...(when === undefined || when === 'false' ? [] : [{ when, action }]),
    ]
  })
  return [...own, ...below]
}
