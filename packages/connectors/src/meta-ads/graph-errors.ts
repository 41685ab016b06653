import { type Instruction, Outcome, retryAfterMs } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { listIn, numberIn, objectIn, parseJson } from '../platform-api/json.ts'
import { outcomeOfStatus, waitOf } from '../platform-api/status.ts'

type Meaning = readonly [instruction: Instruction, code: string, message: string]

const fault: Meaning = ['retry', 'platform_fault', 'Meta has a fault of its own']
const limited: Meaning = ['retry', 'rate_limited', 'Meta limits how often this account may call']
const credentials: Meaning = [
  'refused',
  'invalid_credentials',
  'Meta does not accept the access token any more; create a new one and save it in the connector',
]
const permission: Meaning = [
  'refused',
  'permission_denied',
  'Meta denies access; grant the token ads_management and its user a role on this asset',
]
const missing: Meaning = [
  'refused',
  'object_not_found',
  'Meta does not know the account, audience or dataset, or these credentials may not see it; check its ID',
]
/** Events are taken or refused together, and Meta rarely says which one it was. */
const content: Meaning = ['split', 'invalid_batch', 'Meta refuses the batch because of what is in it']
/** Members that Meta cannot use it counts, and takes the others: what it refuses as a whole is no row's fault. */
const request: Meaning = [
  'failed',
  'request_refused',
  'Meta refuses the request, whatever rows are in it; check the IDs of the connection and the app secret of the connector',
]
const retired: Meaning = [
  'failed',
  'version_retired',
  'Meta has retired the version of its API that this connector calls; update this service',
]
const flagged: Meaning = [
  'refused',
  'audience_flagged',
  'Meta has flagged the audience; appeal against it at Meta first',
]

/** What codes of Meta mean; subcodes go first, since they say more. */
const bySubcode = new Map<number, Meaning>([
  [33, missing],
  [1487301, missing],
  [1487366, ['refused', 'audience_deleted', 'Meta says that the audience was deleted; name another one']],
  [
    1713230,
    ['refused', 'upload_blocked', 'Meta blocks uploads of this account; look at the account quality page of Meta'],
  ],
  [1713231, flagged],
])

/** What is wrong with an event has a subcode from this range. */
const isOfEvent = (subcode: number): boolean => subcode >= 2_804_000 && subcode < 2_805_000

/** Whether a message names a place among the rows that were sent. */
const namesRow = (message: unknown): boolean => /\bdata'?\]?\[\d+\]/.test(String(message))
const byCode = new Map<number, Meaning>([
  ...[1, 2, 341, 5000, 21009].map((code): [number, Meaning] => [code, fault]),
  ...[4, 17, 32, 613, ...Array.from({ length: 15 }, (_, n) => 80_000 + n)].map((code): [number, Meaning] => [
    code,
    limited,
  ]),
  ...[102, 190, 452].map((code): [number, Meaning] => [code, credentials]),
  ...[3, 10, 200, 270, 294].map((code): [number, Meaning] => [code, permission]),
  [100, request],
  [368, ['retry', 'temporarily_blocked', 'Meta has blocked this account for a while for what it takes for abuse']],
  [471, flagged],
  [2635, retired],
  [2650, ['failed', 'audience_not_updated', 'Meta could not update the audience']],
  [
    2655,
    [
      'refused',
      'terms_not_accepted',
      'Meta asks that its terms for customer lists be accepted; do so in its ads manager',
    ],
  ],
])

/** Blocks for what looks like abuse last hours; knocking on the door prolongs them. */
const blockedMs = 60 * 60 * 1000

/** Throws what an answer of Meta means, unless it is a success. Its words are left out: they may quote what was sent. */
export function assertMeta(answer: Answer): void {
  const error = objectIn(objectIn(answer.json).error)
  const code = numberIn(error.code)
  if (code === undefined) {
    if (answer.status >= 200 && answer.status < 300) return
    throw outcomeOfStatus('Meta', answer)
  }
  const subcode = numberIn(error.error_subcode)
  const meaning =
    (error.is_transient === true ? (byCode.get(code)?.[0] === 'retry' ? byCode.get(code) : fault) : undefined) ??
    (subcode === undefined ? undefined : (bySubcode.get(subcode) ?? (isOfEvent(subcode) ? content : undefined))) ??
    (code === 100 && namesRow(error.message) ? content : byCode.get(code)) ??
    (code > 200 && code < 300 ? permission : undefined)
  if (!meaning) {
    if (answer.status === 429 || answer.status >= 500) throw outcomeOfStatus('Meta', answer)
    throw new Outcome('failed', 'unexpected_answer', `Meta refused the request with its error ${code}.`)
  }
  const [instruction, name, message] = meaning
  const numbers = subcode === undefined ? `error ${code}` : `error ${code}, subcode ${subcode}`
  const wait = instruction === 'retry' ? waitOf(name === 'temporarily_blocked' ? blockedMs : waitMs(answer)) : {}
  throw new Outcome(instruction, name, `${message} (${numbers}).`, wait)
}

/** How long to wait: Meta says it in minutes, once for each business and kind of use, in a header of its own. */
function waitMs({ headers }: Answer): number | undefined {
  const usage = parseJson(headers.get('x-business-use-case-usage') ?? '')
  const minutes = Object.values(objectIn(usage))
    .flatMap(listIn)
    .map((use) => numberIn(objectIn(use).estimated_time_to_regain_access) ?? 0)
  const most = Math.max(0, ...minutes)
  return most > 0 ? most * 60_000 : retryAfterMs({ headers })
}
