import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { ConnectorContext, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { cloudCertificate, startCloudPostgresql } from '../../test/cloud-databases.ts'
import { startFailingProxy } from '../../test/failing-proxy.ts'
import { startAwsTokenService } from '../../test/federation.ts'
import { makeOwnIssuer } from '../../test/own-issuer.ts'
import { startRedshiftServer } from '../../test/redshift-server.ts'
import { judgeS3 } from '../../test/s3-signature.ts'
import { amazonRedshiftSource } from './amazon-redshift-source.ts'

/**
 * Redshift with a role of AWS. Its two interfaces verify signatures, and answer as
 * https://docs.aws.amazon.com/redshift/latest/APIReference/API_GetClusterCredentialsWithIAM.html and
 * https://docs.aws.amazon.com/redshift-serverless/latest/APIReference/API_GetCredentials.html say.
 */

const { trusted, subject, identityToken } = await makeOwnIssuer()
const arn = 'arn:aws:iam::123456789012:role/Mover'
const aws = await startAwsTokenService(trusted)
const redshift = await startRedshiftServer()
const given = { user: 'IAMR:Mover', password: 'canary&<of>Redshift' }
const xml = `<GetClusterCredentialsWithIAMResponse xmlns="http://redshift.amazonaws.com/doc/2012-12-01/"><GetClusterCredentialsWithIAMResult><DbUser>IAMR:Mover</DbUser><DbPassword>canary&amp;&lt;of&gt;Redshift</DbPassword><Expiration>2026-12-01T12:00:00Z</Expiration></GetClusterCredentialsWithIAMResult></GetClusterCredentialsWithIAMResponse>`
/** Their answer, if a test sets one. */
let refusal: { status: number; body: string } | undefined
const cluster = await startFailingProxy(aws.url, (asked) => {
  const unsigned = judgeS3(aws.sessions.slice(-1), Date.now, 'redshift')(asked)
  if (unsigned ?? refusal) return unsigned ?? refusal
  const { Action, Version, ClusterIdentifier, DbName } = Object.fromEntries(new URLSearchParams(asked.body.toString()))
  assert.deepEqual([Action, Version, DbName], ['GetClusterCredentialsWithIAM', '2012-12-01', redshift.secrets.database])
  if (ClusterIdentifier === 'shop') return { status: 200, body: xml }
  return { status: 404, body: '<ErrorResponse><Error><Code>ClusterNotFound</Code></Error></ErrorResponse>' }
})
const serverless = await startFailingProxy(aws.url, (asked) => {
  const unsigned = judgeS3(aws.sessions.slice(-1), Date.now, 'redshift-serverless')(asked)
  if (unsigned ?? refusal) return unsigned ?? refusal
  assert.equal(asked.headers['x-amz-target'], 'RedshiftServerless.GetCredentials')
  const { workgroupName, dbName } = JSON.parse(asked.body.toString())
  assert.equal(dbName, redshift.secrets.database)
  if (workgroupName !== 'shop') return { status: 400, body: '{"__type":"ResourceNotFoundException"}' }
  return { status: 200, body: JSON.stringify({ dbUser: given.user, dbPassword: given.password, expiration: 1.7e9 }) }
})
const { user, password, database } = redshift.secrets
const { host, port } = redshift.address
const url = `postgresql://${user}:${encodeURIComponent(String(password))}@${host}:${port}/${database}`
const front = await startCloudPostgresql(url, async (...asked) => asked.join() === [given.user, given.password].join())
after(async () => {
  await front.close()
  for (const server of [cluster, serverless, redshift, aws]) await server.close()
})
beforeEach(() => {
  refusal = undefined
  aws.roles.splice(0, aws.roles.length, { arn, audience: 'sts.amazonaws.com', subject })
})

const ofCluster = 'shop.abc123.eu-central-1.redshift.amazonaws.com'
const ofWorkgroup = 'shop.123456789012.eu-central-1.redshift-serverless.amazonaws.com'

function contextOf(own: Values): ConnectorContext {
  const secrets = {
    port: front.port,
    database: String(database),
    tlsMode: 'verify-full',
    caCertificate: cloudCertificate,
    authType: 'aws-iam',
    identityRoleArn: arn,
    ...own,
  }
  const routes = {
    'https://sts.eu-central-1.amazonaws.com': aws.url,
    'https://redshift.eu-central-1.amazonaws.com': cluster.url,
    'https://redshift-serverless.eu-central-1.amazonaws.com': serverless.url,
  }
  const context = testContext({ secrets, routes, identityToken })
  const { egress } = context
  return {
    ...context,
    egress: {
      ...egress,
      request: egress.request.bind(egress),
      connect: (_, atPort, options) => egress.connect('127.0.0.1', atPort, options),
    },
  }
}
const outcomeOf = async (own: Values): Promise<string> => {
  const { check } = amazonRedshiftSource
  assert(check)
  const steps = await check(contextOf(own))
  assert(!/canary|eyJ/.test(JSON.stringify(steps)))
  const failed = steps.find(({ ok }) => !ok)
  return failed ? `${failed.code}: ${failed.message}` : steps.map(({ message }) => message).join(' ')
}

describe('Redshift without a stored password', () => {
  test('signs in to a cluster and to a workgroup as the user of the role', async () => {
    for (const name of [ofCluster, ofWorkgroup]) {
      assert.match(await outcomeOf({ host: name }), /IAMR:Mover is signed in/)
    }
  })

  test('says what AWS refuses', async () => {
    for (const [own, reply, expected] of [
      [
        { host: ofCluster },
        [403, '<Error><Code>AccessDenied</Code></Error>'],
        /^permission_denied: .*GetClusterCredentialsWithIAM/,
      ],
      [{ host: ofWorkgroup }, [400, '{"__type":"AccessDeniedException"}'], /^permission_denied: .*GetCredentials/],
      [{ host: ofCluster }, [400, '<Error><Code>Throttling</Code></Error>'], /^rate_limited/],
      [{ host: ofCluster }, [503, 'canary'], /^(?:platform|rate)_\w+/],
      [{ host: ofCluster }, [200, '<canary'], /^malformed_response/],
      [{ host: ofCluster }, [200, '<a/>'], /^malformed_response/],
      [{ host: ofWorkgroup }, [200, '[]'], /^malformed_response/],
      [{ host: ofCluster.replace('shop', 'other') }, undefined, /^invalid_address/],
      [{ host: ofWorkgroup.replace('shop', 'other') }, undefined, /^invalid_address/],
      [{ host: 'redshift.example.com' }, undefined, /^invalid_setting: .*endpoint/],
      [{ host: `${ofCluster}.example.com` }, undefined, /^invalid_setting: .*endpoint/],
      [{ host: ofCluster, tlsMode: 'require' }, undefined, /^invalid_setting: .*TLS/],
      [{ host: ofCluster, caCertificate: '' }, undefined, /^certificate_not_trusted/],
    ] as const) {
      refusal = reply && { status: reply[0], body: reply[1] }
      assert.match(await outcomeOf(own), expected, JSON.stringify([own.host, reply]))
    }
  })
})
