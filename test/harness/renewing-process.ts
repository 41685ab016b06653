/**
 * A separate process that renews a refresh token as a job of a worker does, as often as the test requests:
 *
 *     node test/harness/renewing-process.ts '{"databaseUrl": …}'
 *
 * Prints each access token on a line.
 */
import assert from 'node:assert/strict'
import type { Connector } from '@penstock/connector'
import { openTokens } from '../../packages/connectors/src/platform-api/oauth.ts'
import { openDatabase } from '../../packages/server/src/db/database.ts'
import { openKeyring } from '../../packages/server/src/secrets/keyring.ts'
import { parseMasterKey } from '../../packages/server/src/secrets/seal.ts'
import { answerJob, JobHost } from '../../packages/server/src/transfers/job-host.ts'
import { openSide } from '../../packages/server/src/transfers/sides.ts'
import { firstSide } from './configurations.ts'
import { connectorBySlug } from './fixtures.ts'
import { createInProcessRunners } from './in-process-runners.ts'
import { noSecretManagers } from './secret-managers.ts'

export type Renewing = {
  readonly databaseUrl: string
  readonly masterKey: string
  readonly accountId: string
  readonly slug: string
  /** The field that holds the refresh token. */
  readonly key: string
  readonly tokenUrl: string
  readonly times: number
}

const { databaseUrl, accountId, slug, key, tokenUrl, times, ...given } = JSON.parse(process.argv[2] ?? '') as Renewing
const masterKey = parseMasterKey(given.masterKey)
assert(masterKey)
const database = openDatabase({ url: databaseUrl, poolSize: 2 })
const keyring = await openKeyring(database, masterKey)
const connector: Connector = {
  ...connectorBySlug(slug),
  check: async (context) => {
    const grant = { type: 'refresh_token', key, rotates: true } as const
    const tokens = openTokens(context, {
      platform: 'Acme',
      url: tokenUrl,
      grant,
      client: { id: 'acme', secret: 'acme' },
    })
    const steps = []
    for (let time = 0, token = ''; time < times; time++) {
      token = await tokens.token(token)
      steps.push({ name: 'Authentication', ok: true, message: token } as const)
    }
    return steps
  },
}
const runners = createInProcessRunners({ localFolders: [], loadConnector: async () => connector })
const configured = await firstSide(database, connector, accountId)
const secrets = new JobHost({ database, keyring }, [configured])
const side = await openSide({ database, keyring, secretManagers: noSecretManagers }, configured, { job: 'check' })
const result = await runners.run(
  { kind: 'check', connector: side, deadlineMs: 120_000 },
  {
    owner: accountId,
    watch: {},
    signal: new AbortController().signal,
    answer: answerJob(secrets, (error) => console.error(error)),
  },
)
console.log(JSON.stringify(result))
await secrets.close()
await runners.close()
await database.close()
