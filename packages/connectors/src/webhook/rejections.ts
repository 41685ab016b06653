import {
  ConnectorError,
  type Json,
  oneLine,
  type Redact,
  type Rejection,
  type Row,
  readWhole,
  valueRedactor,
} from '@penstock/connector'

/** Longer texts are searched for nothing, and cut. */
const reasonLengthMax = 2_000
const answerBytesMax = 1024 * 1024
/** Maximum number of reasons that an endpoint can return for rows that it does not name. Further reasons are replaced. */
const countedReasonsMax = 5

/** The words of an endpoint about the rows of a message. */
export type EndpointAnswer = {
  readonly rejected: readonly Rejection[]
  /** One for each row. */
  readonly answers?: readonly (Json | null)[]
}

/**
 * The rows that an endpoint reports as not accepted: `{"rejected": [{"index": 0, "reason": "…", "field": "email"}]}`, or
 * `count` instead of `index` if it does not know which. An empty answer accepts all rows. So does an answer that is not JSON,
 * and neither declares to be JSON nor begins like JSON. Throws `retry` if an answer should be JSON but cannot be parsed: it
 * could be the beginning of a list of rejected rows, so no row is accepted. Throws `unexpected_response` if it has rejected
 * rows that cannot be understood. `answers` is a list with a value for each row, in their order, such as an ID or a translated
 * value.
 * @param redactSecrets removes the connector's secrets from texts of the endpoint
 */
export async function answerOf(
  response: Response,
  rows: readonly Row[],
  columns: readonly string[],
  redactSecrets: Redact,
): Promise<EndpointAnswer> {
  const answer = await readAnswer(response)
  const answers = answersIn(answer, rows)
  const rejected: unknown = typeof answer === 'object' && answer !== null && 'rejected' in answer ? answer.rejected : []
  if (!Array.isArray(rejected)) throw misunderstood('rejected is no list')
  // Each entry is about at least one row. Checked first, because the work for each entry is not small.
  if (rejected.length > rows.length) throw misunderstood('more rows are rejected than were sent')
  const seen = new Set<number>()
  const counted = countedReasons(rows, redactSecrets)
  let total = 0
  const rejections = rejected.map((entry: unknown): Rejection => {
    const { index, count, reason, field } = (entry ?? {}) as Record<string, unknown>
    const why = reasonIn(reason)
    const known = typeof field === 'string' && columns.includes(field) ? { field } : {}
    if (isCount(count) && index === undefined) {
      total += count
      return { count, reason: counted(why), ...known }
    }
    const row = isIndex(index, rows) ? rows[index] : undefined
    if (!row || !isIndex(index, rows)) throw misunderstood('an entry has no index of a row of the message')
    if (seen.has(index)) throw misunderstood('a row is rejected twice')
    seen.add(index)
    total += 1
    return { index, reason: redactSecrets(valueRedactor([row])(why)), ...known }
  })
  if (total > rows.length) throw misunderstood('more rows are rejected than were sent')
  return { rejected: rejections, ...(answers && { answers }) }
}

function answersIn(answer: unknown, { length }: readonly Row[]): readonly (Json | null)[] | undefined {
  if (typeof answer !== 'object' || answer === null || !('answers' in answer)) return undefined
  const { answers } = answer
  if (Array.isArray(answers) && answers.length === length) return answers
  throw misunderstood('answers is no list with a value for each row')
}

const noReason = 'The endpoint gave no reason.'

/** Reasons are shown to people who are not allowed to see rows, and endpoints often quote the refused value. */
function reasonIn(reason: unknown): string {
  const text = typeof reason === 'string' ? oneLine(reason.slice(0, reasonLengthMax)) : ''
  return text === '' ? noReason : text
}

/** Reasons for rows that are not named: any value of the batch is removed. */
function countedReasons(rows: readonly Row[], redactSecrets: Redact): (why: string) => string {
  const redact = valueRedactor(rows)
  const known = new Map([[noReason, noReason]])
  return (why) => {
    const reason = known.get(why) ?? (known.size > countedReasonsMax ? noReason : redactSecrets(redact(why)))
    known.set(why, reason)
    return reason
  }
}

const isIndex = (value: unknown, rows: readonly Row[]): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < rows.length
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0

/** The answer as JSON. `undefined` if it is not meant to be JSON. */
async function readAnswer(response: Response): Promise<unknown> {
  const bytes = await readWhole(response, 'The endpoint', answerBytesMax)
  const text = new TextDecoder().decode(bytes).trim()
  if (text === '') return undefined
  const saysJson = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(response.headers.get('content-type') ?? '')
  if (!saysJson && !/^[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    const message =
      'The endpoint answered with success, but its JSON is truncated, so no row counts as accepted. It must answer with an empty body or complete JSON.'
    throw new ConnectorError('malformed_response', message)
  }
}

const misunderstood = (why: string): ConnectorError =>
  new ConnectorError(
    'unexpected_response',
    `The endpoint's answer cannot be understood: ${why}. Correct the endpoint, then start another transfer.`,
  )
