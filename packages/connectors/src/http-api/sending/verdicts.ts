import { oneLine } from '@penstock/connector'
import { evaluate, isEmpty, isTrue } from '@penstock/expressions/json'
import type { WhyNot } from '../../kit/event-facts.ts'
import { type Answer, isSuccess } from '../../platform-api/call.ts'
import { textIn } from '../../platform-api/json.ts'
import { scopeOfAnswer } from '../api/answers.ts'
import { valueIn } from '../api/records.ts'
import type { ResultRules, RowResults } from '../definition/definition.ts'
import { fill, type TemplateValues } from '../definition/template.ts'

/** A row that was sent: what was made of it, and the values of its columns. */
export type SentRow = { readonly row: unknown; readonly cells: Readonly<Record<string, unknown>> }

/** Characters of a reason that an API gave. */
const reasonLengthMax = 300

/** The names of expressions about an answer. */
const scopeOf = (answer: Answer, values: TemplateValues): TemplateValues => ({
  ...values,
  ...scopeOfAnswer(answer, answer.json),
})
const holds = (expression: string, scope: TemplateValues): boolean => isTrue(evaluate(expression, scope, Date.now()))

/** Whether an answer refuses what is in its request. */
export const isRefused = ({ refused }: ResultRules, { status }: Answer): boolean => refused.includes(status)

/** Whether an answer is a success by its status, and by the expression of the rules. */
export const isTaken = ({ success }: ResultRules, answer: Answer, values: TemplateValues): boolean =>
  isSuccess(answer) && (success === undefined || holds(success, scopeOf(answer, values)))

/** How many rows an answer says were taken; `undefined` if it does not say it. */
export function takenIn({ taken }: ResultRules, answer: Answer, values: TemplateValues): number | undefined {
  if (taken === undefined) return undefined
  const count = Number(evaluate(taken, scopeOf(answer, values), Date.now()))
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined
}

/** Why a request was refused: what the API says, else the status. */
export function refusalOf({ reason }: ResultRules, answer: Answer, values: TemplateValues): string {
  const said = reason === undefined ? undefined : fill(reason, scopeOf(answer, values))
  return sentence(said) ?? `The API does not accept the row (status ${answer.status}).`
}

/** The rows that an answer blames, by their places in the request, and the reasons of entries that name none of its rows. */
export type Blamed = { readonly blamed: ReadonlyMap<number, WhyNot>; readonly unnamed: readonly string[] }

/**
 * The rows that the entries of an answer blame. `undefined` if the answer has no list of entries where the rules say, or its entries
 * are in the order of the rows and are not as many.
 */
export function blamedIn(
  rules: RowResults | undefined,
  answer: Answer,
  values: TemplateValues,
  sent: readonly SentRow[],
): Blamed | undefined {
  const entries = rules && entriesIn(answer.json, rules.at)
  if (!rules || !entries) return undefined
  if (rules.by.kind === 'order' && entries.length !== sent.length) return undefined
  const scope = scopeOf(answer, values)
  const places = rules.by.kind === 'key' ? placesBy(rules.by.columns, sent) : undefined
  const blamed = new Map<number, WhyNot>()
  const unnamed: string[] = []
  for (const [place, entry] of entries.entries()) {
    const about = { ...scope, entry }
    if (rules.rejected !== undefined && !holds(rules.rejected, about)) continue
    const said = rules.reason === undefined ? undefined : fill(rules.reason, about)
    const reason = sentence(said) ?? 'The API does not accept the row.'
    const named = placesOf(rules, about, place, places).filter((at) => at >= 0 && at < sent.length)
    if (named.length === 0) unnamed.push(reason)
    for (const at of named) {
      if (blamed.has(at)) continue
      const field = rules.field === undefined ? '' : fill(rules.field, about)
      const cells = sent[at]?.cells ?? {}
      blamed.set(at, {
        reason,
        ...(Object.hasOwn(cells, field) && { field }),
        ...(rules.again !== undefined && holds(rules.again, about) && { again: true }),
      })
    }
  }
  return { blamed, unnamed }
}

/** A list at a path, of which `*` is every value. */
function entriesIn(json: unknown, path: readonly string[]): readonly unknown[] | undefined {
  if (path.includes('*')) return entriesBelow([json], path)
  const found = path.length === 0 ? json : valueIn(json, path)
  return Array.isArray(found) ? found : undefined
}

const entriesBelow = (from: readonly unknown[], path: readonly string[]): readonly unknown[] =>
  path.reduce(
    (all, key) =>
      all.flatMap((one) =>
        key !== '*'
          ? [valueIn(one, [key])].filter((value) => value !== undefined)
          : isNested(one)
            ? Object.values(one)
            : [],
      ),
    from,
  )

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

function placesOf(
  { by }: RowResults,
  about: TemplateValues,
  place: number,
  places: ReadonlyMap<string, readonly number[]> | undefined,
): readonly number[] {
  if (by.kind === 'order') return [place]
  const value = evaluate(by.value, about, Date.now())
  if (by.kind === 'key') return places?.get((textIn(value) ?? '').toLowerCase()) ?? []
  const index = isEmpty(value) ? Number.NaN : Number(value)
  return Number.isSafeInteger(index) ? [index - by.first] : []
}

function placesBy(columns: readonly string[], sent: readonly SentRow[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>()
  for (const [place, { cells }] of sent.entries()) {
    for (const column of columns) {
      const key = textIn(cells[column])?.toLowerCase()
      if (key !== undefined) places.set(key, [...(places.get(key) ?? []), place])
    }
  }
  return places
}

/** The words of an API as one sentence. The engine removes the values of rows from it. */
function sentence(said: string | undefined): string | undefined {
  const line = oneLine(said ?? '').slice(0, reasonLengthMax)
  if (line === '') return undefined
  return `The API says: ${/[.!?…]$/.test(line) ? line : `${line}.`}`
}
