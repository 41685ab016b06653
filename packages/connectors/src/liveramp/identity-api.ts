import {
  type Connector,
  type ConnectorContext,
  ConnectorError,
  column,
  secret,
  text,
  type Values,
} from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { lookupDestination } from '../kit/lookup-destination.ts'
import type { LookedUp } from '../kit/lookup-facts.ts'
import { isObject, textIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import type { Read } from '../platform-api/rows/events.ts'
import { liveRamp } from './platform.ts'

/** Lookups of LiveRamp's RampID API, up to 1,000 in a request (developers.liveramp.com/rampid-api). */

const host = 'https://us.identity.api.liveramp.com'

export type IdentityLookup = {
  readonly slug: string
  readonly name: string
  readonly dataType: 'identity management' | 'transcoding'
  readonly description: string
  readonly notes: string
  readonly column: string
  readonly columnHelp: string
  /** The role of the API, which accounts with several roles must name. */
  readonly role: string
  readonly path: (row: BatchRow) => Read<string>
  readonly probe: string
  /** Whether the setting of a partner's encoding is offered. */
  readonly translates?: boolean
}

export const identityLookup = ({
  column: name,
  columnHelp,
  role,
  path,
  probe,
  translates,
  ...facts
}: IdentityLookup): Connector =>
  lookupDestination<string>({
    ...facts,
    platform: liveRamp,
    dataTypeCategory: 'identity management',
    status: 'preview',
    tested:
      'Our own test server, with requests and answers of the public documents of the RampID API; not LiveRamp itself.',
    api: { version: 'RampID API, batch lookups', ends: 'no end is announced' },
    secrets: {
      clientId: text({
        keepsState: 'credential',
        label: 'Client ID',
        description: 'Client identifier, requested from your LiveRamp success manager',
        required: true,
      }),
      clientSecret: secret({
        label: 'Secret key',
        description: 'Secret for the client ID, requested from your LiveRamp success manager',
        required: true,
      }),
    },
    platformApi: restApi({
      name: 'LiveRamp',
      baseUrl: host,
      errors: {
        codeAt: 'error.code',
        statuses: { 403: ['expired_credentials', 'Check that LiveRamp enabled this API for the client ID.'] },
      },
    }),
    auth: {
      open: async (context: ConnectorContext) =>
        (await import('../platform-api/oauth.ts')).openTokens(context, {
          platform: 'LiveRamp',
          url: `${host}/token`,
          grant: { type: 'client_credentials' },
          client: { id: String(context.secrets.clientId ?? ''), secret: String(context.secrets.clientSecret ?? '') },
          renewal: 'check the client ID and the secret key, and save them again',
        }),
    },
    settings: {
      ...(translates && {
        partnerEncoding: text({
          asked: true,
          label: 'Partner encoding',
          description: 'Encoding of the RampIDs that you get, four characters. By default your own',
        }),
      }),
    },
    batch: { rowsMax: 1_000, bytesMax: 1_000_000 },
    columns: { [name]: column({ description: columnHelp, required: true }) },
    item: path,
    open:
      (client, { settings }) =>
      async (paths) => {
        const partnerEncoding = encodingOf(settings)
        const { json, bytesSent: bytes } = await client.ask({
          method: 'POST',
          path: '/batch/lookup',
          query: { role, partnerEncoding },
          body: paths,
          repeatable: true,
        })
        if (!Array.isArray(json))
          throw new ConnectorError('malformed_response', 'LiveRamp did not return a list of answers.')
        return { bytes, results: json.map(resultOf) }
      },
    probe,
  })

function encodingOf({ partnerEncoding }: Values): string | undefined {
  const encoding = textIn(partnerEncoding)?.trim()
  if (!encoding || /^\w{4}$/.test(encoding)) return encoding || undefined
  throw new ConnectorError('invalid_setting', 'The partner encoding has four letters or digits, such as T001.')
}

/** LiveRamp answers with status 200, and an error in the answer of one item. */
function resultOf(entry: unknown): LookedUp {
  const rampId = isObject(entry) ? linkIn(entry.document) : undefined
  if (rampId !== undefined) return { answer: { rampId } }
  const code = isObject(entry) ? Number(entry.code) : Number.NaN
  return { wrong: `LiveRamp has no answer for the value${Number.isInteger(code) ? ` (code ${code})` : ''}.` }
}

/** The RampID in a document of a person or a household. */
function linkIn(document: unknown): string | undefined {
  if (!isObject(document)) return undefined
  const link = textIn(document.anonymousConsumerLink) ?? textIn(document.anonymousHouseholdLink)
  if (link !== undefined) return link
  for (const value of Object.values(document)) {
    const found = linkIn(value)
    if (found !== undefined) return found
  }
  return undefined
}
