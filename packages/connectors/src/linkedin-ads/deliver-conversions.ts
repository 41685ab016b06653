import { ConnectorError, type DestinationContext, type DestinationWriter, type Rejection } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { type RowEvent, readEvents } from '../platform-api/rows/events.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { type RowBlame, rejectionsOf } from '../platform-api/rows/row-results.ts'
import {
  conversionDefaults,
  conversionOf,
  type LinkedInConversion,
  type LinkedInConversionDefaults,
} from './conversion-rows.ts'
import { assertFinal, createAll, isAccepted, type LinkedIn, openLinkedIn, resultsOf } from './linkedin-api.ts'

type Events = readonly RowEvent<LinkedInConversion>[]
type Sent = { bytes: number; rejected: Rejection[] }

/**
 * Sends conversions. LinkedIn says what became of each one; where it refuses a request for some of them, these are left
 * out and the others are sent again, under the same IDs.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const defaults = conversionDefaults(context.settings)
  if (defaults.rule === undefined && !context.columns.includes('conversion_rule_id')) {
    throw new ConnectorError(
      'invalid_setting',
      'Set the conversion rule in the connection, or in the column conversion_rule_id of each row.',
    )
  }
  const linkedin = openLinkedIn(context)
  const refusals = new Refusals('LinkedIn')
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, (row) => conversionOf(defaults, batch, row))
      const sent = await send({ linkedin, refusals, defaults }, events)
      return { bytes: sent.bytes, rejected: [...rejected, ...sent.rejected] }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

type Sender = {
  readonly linkedin: LinkedIn
  readonly refusals: Refusals
  readonly defaults: LinkedInConversionDefaults
}

/** After so many answers that each blame some conversions, the batch is halved instead. */
const roundsMax = 20

async function send({ linkedin, refusals, defaults }: Sender, events: Events): Promise<Sent> {
  const rejected: Rejection[] = []
  let left = events
  let bytes = 0
  for (let round = 1; left.length > 0; round++) {
    const answer = await refusals.count(async () => {
      const body = left.map(({ event }) => event)
      const got = await createAll(linkedin, '/conversionEvents', body, ({ status }) => status === 400 || status === 422)
      const blamed = got.status < 300 ? [] : blamedIn(got, left.length)
      if (got.status >= 300 && (blamed.length === 0 || round > roundsMax)) {
        throw new ConnectorError('invalid_batch', `LinkedIn refuses the conversions (status ${got.status}).`)
      }
      return got
    })
    bytes += answer.bytesSent
    const items = left.map(({ index }) => ({ rows: [index] }))
    if (answer.status < 300) {
      const results = resultsOf(answer, left.length)
      assertFinal(results)
      return { bytes, rejected: [...rejected, ...rejectionsOf(items, blameOf(results))] }
    }
    const blamed = blamedIn(answer, left.length)
    const ofRule = isOfRule(answer)
    if (ofRule) assertRuleOfRow(defaults, left, blamed)
    const reason = ofRule ? wrongRule : `LinkedIn refuses the conversion (status ${answer.status}).`
    const field = ofRule ? { field: 'conversion_rule_id' } : {}
    rejected.push(
      ...rejectionsOf(
        items,
        blamed.map((at): RowBlame => ({ at, reason, ...field })),
      ),
    )
    const places = new Set(blamed)
    left = left.filter((_, at) => !places.has(at))
  }
  return { bytes, rejected }
}

function* blameOf(results: ReturnType<typeof resultsOf>): Generator<RowBlame> {
  for (const [at, result] of results.entries()) {
    if (isAccepted(result)) continue
    const reason = result
      ? `LinkedIn did not accept the conversion (${result.code}).`
      : 'LinkedIn did not confirm the conversion.'
    yield { at, reason }
  }
}

const wrongRule =
  'LinkedIn does not accept conversions of this rule; check its ID, and that its method is the Conversions API.'

/** The places that the text of a refusal names: `Index: 3, ERROR :: …`, or `indices [0, 3] (0-indexed)`. */
function blamedIn({ json }: Answer, sent: number): number[] {
  const message = messageIn(json)
  const lists = [...message.matchAll(/\bindices \[([\d, ]{1,60000})\]/g)].flatMap(([, list = '']) => list.split(','))
  const places = [...message.matchAll(/\bIndex: (\d{1,6}), ERROR ::/g)].map(([, place = '']) => place)
  const numbers = [...lists, ...places].filter((text) => text.trim() !== '').map(Number)
  return [...new Set(numbers)].filter((at) => Number.isInteger(at) && at < sent)
}

const messageIn = (json: unknown): string => textIn(objectIn(json).message) ?? ''

const isOfRule = ({ json }: Answer): boolean => /^Incorrect conversions information/i.test(messageIn(json))

/** A rule that is set for the connection is not a row's error. */
function assertRuleOfRow({ rule }: LinkedInConversionDefaults, events: Events, blamed: readonly number[]): void {
  if (rule === undefined || !blamed.some((at) => events[at]?.event.conversion === rule)) return
  throw new ConnectorError(
    'invalid_setting',
    'LinkedIn does not accept conversions of the rule of the connection; check its ID, and that its method is the Conversions API.',
  )
}
