import { Outcome, type Rejection, type Row } from '@penstock/connector'

const reasonLengthMax = 300
const answerBytesMax = 1024 * 1024

/**
 * The rows that an endpoint says it has not taken: `{"rejected": [{"index": 0, "reason": "…", "field": "email"}]}`, or
 * `count` instead of `index` where it does not know which. An answer that is no such object takes all rows.
 * Throws `failed` where it speaks of rejected rows in a way that cannot be understood, because they would be lost.
 */
export async function rejectionsOf(
  response: Response,
  rows: readonly Row[],
  columns: readonly string[],
): Promise<Rejection[]> {
  const answer = await readAnswer(response)
  const rejected: unknown = typeof answer === 'object' && answer !== null && 'rejected' in answer ? answer.rejected : []
  if (!Array.isArray(rejected)) throw misunderstood('rejected is no list')
  const seen = new Set<number>()
  let total = 0
  const rejections = rejected.map((entry: unknown): Rejection => {
    const { index, count, reason, field } = (entry ?? {}) as Record<string, unknown>
    const why = typeof reason === 'string' && reason.trim() !== '' ? reason : 'The endpoint gave no reason.'
    const known = typeof field === 'string' && columns.includes(field) ? { field } : {}
    if (isCount(count) && index === undefined) {
      total += count
      return { count, reason: redact(why, rows), ...known }
    }
    const row = isIndex(index, rows) ? rows[index] : undefined
    if (!row || !isIndex(index, rows)) throw misunderstood('an entry has no index of a row of the message')
    if (seen.has(index)) throw misunderstood('a row is rejected twice')
    seen.add(index)
    total += 1
    return { index, reason: redact(why, [row]), ...known }
  })
  if (total > rows.length) throw misunderstood('more rows are rejected than were sent')
  return rejections
}

const isIndex = (value: unknown, rows: readonly Row[]): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < rows.length
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0

/** Reasons are shown to people who may not see rows: endpoints like to quote the value that they did not take. */
function redact(reason: string, rows: readonly Row[]): string {
  let text = reason.replace(/\s+/g, ' ').trim()
  for (const row of rows) {
    for (const cell of row) {
      const value = typeof cell === 'string' || typeof cell === 'number' ? String(cell) : ''
      if (value.length >= 3 && text.includes(value)) text = text.replaceAll(value, '…')
    }
  }
  return text.slice(0, reasonLengthMax)
}

/** The answer as JSON; `undefined` where it is none, or longer than anybody's list of rejected rows. */
async function readAnswer(response: Response): Promise<unknown> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > answerBytesMax) throw misunderstood('it is longer than a megabyte')
    text += decoder.decode(chunk, { stream: true })
  }
  try {
    return JSON.parse(text + decoder.decode())
  } catch {
    return undefined
  }
}

const misunderstood = (why: string): Outcome =>
  new Outcome(
    'failed',
    'strange_answer',
    `The endpoint's answer cannot be understood: ${why}. Its author has to mend it.`,
  )
