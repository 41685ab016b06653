import assert from 'node:assert/strict'
import { after, beforeEach, describe, mock, test } from 'node:test'
import { Signer } from '@aws-sdk/rds-signer'
import type { Connector, ConnectorContext, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { cloudCertificate, type Judge, startCloudMysql, startCloudPostgresql } from '../../test/cloud-databases.ts'
import { startAwsTokenService } from '../../test/federation.ts'
import { startEntraTokenService } from '../../test/federation-azure.ts'
import { startGoogleTokenServices } from '../../test/federation-google.ts'
import { startMariadb } from '../../test/mariadb.ts'
import { makeOwnIssuer } from '../../test/own-issuer.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { mysql } from '../mysql/mysql.ts'
import { postgresql } from '../postgresql/postgresql.ts'

/**
 * Databases that sign in by tokens of their clouds. The token services verify the identity as the documentation of each cloud
 * describes; a token of Amazon RDS must be the one that AWS' own signer makes of the same session.
 */

const { issuer, subject, trusted, identityToken } = await makeOwnIssuer()
const scope = 'https://ossrdbms-aad.database.windows.net/.default'
const arn = 'arn:aws:iam::123456789012:role/Mover'
const aws = await startAwsTokenService(trusted)
const google = await startGoogleTokenServices(trusted, ['sqlservice.login'])
const entra = await startEntraTokenService(trusted, scope)
const routes = {
  'https://sts.eu-central-1.amazonaws.com': aws.url,
  'https://sts.cn-north-1.amazonaws.com.cn': aws.url,
  'https://sts.googleapis.com': google.url,
  'https://iamcredentials.googleapis.com': google.url,
  'https://login.microsoftonline.com': entra.url,
}

/** The host and the port that the client means, and the cloud that the database of the test is of. */
let dialled = { host: '', port: 0 }
let cloud: 'aws' | 'google' | 'azure' = 'aws'
const judge: Judge = async (user, token) => {
  if (user !== 'mover') return false
  if (cloud === 'google') return google.accepts(token)
  if (cloud === 'azure') return entra.accepts(token)
  const session = aws.sessions.at(-1)
  if (!session) return false
  const parameters = new URL(`https://${token}`).searchParams
  const [, day, time] = /^(\d{8})T(\d{6})Z$/.exec(parameters.get('X-Amz-Date') ?? '') ?? []
  const at = Date.parse(`${day?.replace(/(....)(..)(..)/, '$1-$2-$3')}T${time?.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`)
  if (Math.abs(Date.now() - at) > 900_000) return false
  const region = dialled.host.includes('.cn-') ? 'cn-north-1' : 'eu-central-1'
  const own = { accessKeyId: session.id, secretAccessKey: session.secret, sessionToken: session.token ?? '' }
  const signer = new Signer({ hostname: dialled.host, port: dialled.port, username: user, region, credentials: own })
  mock.timers.enable({ apis: ['Date'], now: at })
  try {
    const expected = new URL(`https://${await signer.getAuthToken()}`)
    const shown = (url: URL) => [url.host, url.pathname, ...[...url.searchParams].map(String).toSorted()]
    assert.deepEqual(shown(new URL(`https://${token}`)), shown(expected))
    return true
  } finally {
    mock.timers.reset()
  }
}

const real = await startPostgresql()
const { user, password, database } = real.secrets
const postgres = await startCloudPostgresql(
  `postgresql://${user}:${encodeURIComponent(String(password))}@${real.host}:${real.port}/${database}`,
  judge,
)
const maria = await startMariadb()
await maria?.administer("create user iam@'127.0.0.1' identified by ''")
await maria?.administer("grant all on penstock.* to iam@'127.0.0.1'")
const proxied = maria && (await startCloudMysql({ port: maria.port, user: 'iam' }, judge))
after(async () => {
  await postgres.close()
  await proxied?.close()
  await real.close()
  await maria?.stop()
  for (const service of [aws, google, entra]) await service.close()
})

const ways = {
  aws: { authType: 'aws-iam', identityRoleArn: arn, host: 'shop.abc123.eu-central-1.rds.amazonaws.com' },
  china: { authType: 'aws-iam', identityRoleArn: arn, host: 'shop.rds.cn-north-1.amazonaws.com.cn' },
  google: {
    authType: 'google-iam',
    workloadProvider: google.provider,
    serviceAccount: google.email,
    host: 'cloud-sql.example.com',
  },
  azure: {
    authType: 'entra-id',
    directoryId: entra.tenantId,
    clientId: entra.clientId,
    host: 'shop.postgres.database.azure.com',
  },
} as const

function contextOf(port: number, secrets: Values): ConnectorContext {
  const all = { port, user: 'mover', tlsMode: 'verify-full', caCertificate: cloudCertificate, ...secrets }
  const context = testContext({ secrets: all, routes, identityToken })
  const { egress } = context
  return {
    ...context,
    egress: {
      ...egress,
      request: egress.request.bind(egress),
      connect: (host, atPort, options) => {
        dialled = { host, port: atPort }
        return egress.connect('127.0.0.1', atPort, options)
      },
    },
  }
}
const outcomeOf = async ({ check }: Connector, context: ConnectorContext): Promise<string> => {
  assert(check)
  const steps = await check(context)
  const failed = steps.find(({ ok }) => !ok)
  assert(!/canary|eyJ|X-Amz/.test(JSON.stringify(steps)))
  return failed ? `${failed.code}: ${failed.message}` : 'ok'
}

entra.credential = { issuer, subject, audience: 'api://AzureADTokenExchange' }
beforeEach(() => {
  aws.roles.splice(0, aws.roles.length, { arn, audience: 'sts.amazonaws.com', subject })
  google.subjects.clear()
  google.subjects.add(subject)
})

const databases = [
  { name: 'PostgreSQL', connector: postgresql, port: postgres.port, database: String(database) },
  ...(proxied ? [{ name: 'MariaDB', connector: mysql, port: proxied.port, database: 'penstock' }] : []),
]
for (const { name, connector, port, database: of } of databases) {
  describe(`${name} without a stored password`, () => {
    test('signs in with a token of each cloud', async () => {
      for (const [way, secrets] of Object.entries(ways)) {
        cloud = way === 'china' ? 'aws' : (way as typeof cloud)
        assert.equal(await outcomeOf(connector, contextOf(port, { ...secrets, database: of })), 'ok', way)
      }
    })

    test('says what to grant where the database refuses the token', async () => {
      for (const [way, expected] of [
        ['aws', /^invalid_credentials: The database does not accept the token.*rds-db:connect.*rds_iam/],
        ['google', /^invalid_credentials: .*Cloud SQL Instance User/],
        ['azure', /^invalid_credentials: .*user of the database/],
      ] as const) {
        cloud = way
        const secrets = { ...ways[way], database: of, user: 'stranger' }
        assert.match(await outcomeOf(connector, contextOf(port, secrets)), expected)
      }
    })

    test('sends no token to a server that it did not verify, or that cannot use it', async () => {
      const { host } = ways.google
      for (const [secrets, expected] of [
        [{ ...ways.aws, tlsMode: 'require' }, /^invalid_setting: .*Encrypted and verified/],
        [{ ...ways.azure, tlsMode: 'require' }, /^invalid_setting: .*Encrypted and verified/],
        [{ ...ways.google, tlsMode: 'disable' }, /^invalid_setting: .*Encrypted and verified/],
        [{ ...ways.aws, host }, /^invalid_setting: .*endpoint that Amazon RDS gave/],
        [{ ...ways.aws, host: `${ways.aws.host}.example.com` }, /^invalid_setting: .*endpoint that Amazon RDS gave/],
        [{ ...ways.azure, host }, /^invalid_setting: .*hosts of Azure Database only/],
        [{ ...ways.aws, caCertificate: '' }, /^certificate_not_trusted/],
        [{ ...ways.aws, host: 'other.abc123.eu-central-1.rds.amazonaws.com' }, /^certificate_not_trusted/],
      ] as const) {
        cloud = 'aws'
        assert.match(await outcomeOf(connector, contextOf(port, { ...secrets, database: of })), expected)
      }
    })

    test('says what the cloud does not accept', async () => {
      aws.roles.splice(0)
      assert.match(
        await outcomeOf(connector, contextOf(port, { ...ways.aws, database: of })),
        /^invalid_credentials: .*does not let this identity take on the role/,
      )
      google.subjects.clear()
      cloud = 'google'
      assert.match(
        await outcomeOf(connector, contextOf(port, { ...ways.google, database: of })),
        /^(?:invalid_credentials|permission_denied): .*Google does not/,
      )
    })
  })
}
