import { type Connector, column, type Platform, secret, select } from '@penstock/connector'
import { bearer, restApi } from '../kit/api.ts'
import { lookupDestination } from '../kit/lookup-destination.ts'
import { type IdentityItem, itemOf } from './identity-items.ts'

/** The facts in which UID2 and EUID differ. */
export type IdentityMap = {
  readonly slug: string
  readonly name: string
  readonly short: 'UID2' | 'EUID'
  readonly platform: Platform
  readonly description: string
  readonly notes: string
  /** Hosts by the value of the setting, the first one by default. */
  readonly hosts: Readonly<Record<string, string>>
  readonly hostLabels: Readonly<Record<string, string>>
}

/** The use of both, for the pages of the connectors. */
export const useOfMap =
  'A row has one identifier: an e-mail address, a phone number, or the SHA-256 of one in Base64. The answer of a row has the raw identifier, the previous one for 90 days, and the time in seconds since 1970 before which it cannot change: ask again only after that time. A person who opted out is rejected. The connection must record outcomes.'

/** A destination that translates e-mail addresses and phone numbers into raw identifiers of UID2 or EUID. */
export function identityMap({ short, hosts, hostLabels, ...facts }: IdentityMap): Connector {
  const environments = Object.keys(hosts)
  const host = (environment: unknown) => hosts[String(environment ?? environments[0])] ?? hosts[environments[0] ?? '']
  return lookupDestination<IdentityItem>({
    ...facts,
    dataType: 'identity management',
    dataTypeCategory: 'identity management',
    status: 'preview',
    tested: `Our own test server, which decrypts requests and encrypts answers as the public documents of ${short} describe; not ${short} itself.`,
    api: { version: 'v3 of /identity/map', ends: 'no end is announced' },
    secrets: {
      environment: select({
        keepsState: 'transport',
        label: 'Environment',
        description: 'Where requests go: the region closest to you, or the test environment with its own keys',
        options: environments,
        labels: hostLabels,
        default: environments[0] ?? '',
      }),
      apiKey: secret({ label: 'Client API key', description: `API key from the ${short} portal`, required: true }),
      clientSecret: secret({
        label: 'Client secret',
        description: 'The secret that belongs to the key, in Base64',
        required: true,
      }),
    },
    platformApi: ({ secrets }) =>
      restApi({
        name: short,
        baseUrl: `https://${host(secrets.environment)}`,
        errors: {
          statuses: {
            400: [
              'request_refused',
              'Check the clock of this machine, and that key and secret belong to the environment.',
            ],
            401: ['invalid_credentials', 'Check that the API key has the role MAPPER and belongs to the environment.'],
          },
        },
      }),
    auth: bearer('apiKey'),
    settings: {},
    batch: { rowsMax: 5_000, bytesMax: 1_000_000 },
    columns: {
      email: column({ description: 'E-mail address of the person', normalise: 'email', oneOf: 'identifier' }),
      email_hash: column({ description: 'SHA-256 of the normalised address, in Base64', oneOf: 'identifier' }),
      phone: column({ description: 'Phone number of the person', normalise: 'phone-e164', oneOf: 'identifier' }),
      phone_hash: column({ description: 'SHA-256 of the number in E.164, in Base64', oneOf: 'identifier' }),
    },
    item: itemOf,
    open: async (client, context) => (await import('./map.ts')).openMap(short, client, context),
    probe: { by: 'email', value: 'nobody@example.com' },
  })
}
