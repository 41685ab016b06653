import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { AwsV4Signer } from 'aws4fetch'
import { roleOfIdentity } from '../aws/web-identity.ts'
import type { Place } from '../databases/settings.ts'
import { readXml, textAt } from '../object-stores/xml.ts'
import { type Answer, call, isSuccess } from '../platform-api/call.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { connectorErrorOfStatus } from '../platform-api/status.ts'

/** Temporary users and passwords of Redshift, which it gives to a role of AWS. */

const clusterHost =
  /^([a-z][a-z0-9-]{0,62})\.[a-z0-9]+\.([a-z]{2}(?:-[a-z]+){1,3}-\d)\.redshift\.(amazonaws\.com(?:\.cn)?)$/
const workgroupHost =
  /^([a-z0-9-]{3,64})\.\d{12}\.([a-z]{2}(?:-[a-z]+){1,3}-\d)\.redshift-serverless\.(amazonaws\.com(?:\.cn)?)$/

type Asked = {
  readonly service: 'redshift' | 'redshift-serverless'
  readonly region: string
  /** The domain of AWS, which is another one in China. */
  readonly domain: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The user and the password in an answer. */
  readonly read: (answer: Answer) => readonly [user: string, password: string]
}

/**
 * A user and a password for a session, which Redshift makes for the role that trusts the sub-account. Users are named after the
 * role: `IAMR:Role`.
 * @throws ConnectorError `invalid_setting`, and what AWS refuses
 */
export async function credentialsOfRole(
  context: ConnectorContext,
  { host, database, tls }: Place,
): Promise<{ readonly user: string; readonly password: string }> {
  if (tls !== 'verify-full') throw invalid('This sign-in method needs the TLS mode “Encrypted and verified”. Set it.')
  const asked = requestFor(host.toLowerCase(), database)
  const url = `https://${asked.service}.${asked.region}.${asked.domain}/`
  const credentials = await roleOfIdentity(context, () => asked.region).current()
  const signer = new AwsV4Signer({ ...credentials, ...asked, url, method: 'POST' })
  const signed = await signer.sign()
  const answer = await call(context, {
    url,
    method: 'POST',
    headers: Object.fromEntries(signed.headers),
    body: asked.body,
  })
  if (!isSuccess(answer)) throw refusalOf(answer)
  const [user, password] = asked.read(answer)
  if (user === '' || password === '') {
    throw new ConnectorError('malformed_response', 'Redshift returned no user and password for the role.')
  }
  return { user, password }
}

function requestFor(host: string, database: string): Asked {
  const [, cluster = '', ofCluster] = clusterHost.exec(host) ?? []
  if (ofCluster !== undefined) {
    const action = 'GetClusterCredentialsWithIAM'
    const parameters = { Action: action, Version: '2012-12-01', ClusterIdentifier: cluster, DbName: database }
    return {
      service: 'redshift',
      region: ofCluster,
      domain: domainOf(host),
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      body: new URLSearchParams(parameters).toString(),
      read({ text }) {
        const xml = readXml(text, 'Redshift')
        const textOf = (name: string) => textAt(xml, `${action}Response`, `${action}Result`, name)
        return [textOf('DbUser'), textOf('DbPassword')]
      },
    }
  }
  const [, workgroup = '', ofWorkgroup] = workgroupHost.exec(host) ?? []
  if (ofWorkgroup === undefined) {
    throw invalid(
      'IAM signs in at the endpoint that AWS gave the cluster or workgroup, such as name.abc123.eu-central-1.redshift.amazonaws.com. Enter it as the host.',
    )
  }
  return {
    service: 'redshift-serverless',
    region: ofWorkgroup,
    domain: domainOf(host),
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'RedshiftServerless.GetCredentials' },
    body: JSON.stringify({ workgroupName: workgroup, dbName: database }),
    read({ json }) {
      const { dbUser, dbPassword } = objectIn(json)
      return [textIn(dbUser) ?? '', textIn(dbPassword) ?? '']
    },
  }
}

const domainOf = (host: string): string => host.slice(host.indexOf('amazonaws.'))

function refusalOf(answer: Answer): ConnectorError {
  const named = /<Code>(\w{1,80})<\/Code>/.exec(answer.text)?.[1] ?? textIn(objectIn(answer.json).__type) ?? ''
  const code = /(\w{1,80})$/.exec(named)?.[1] ?? ''
  if (/^Access_?Denied|^UnauthorizedOperation/i.test(code)) {
    const message =
      'AWS does not let the role sign in to Redshift. Allow it redshift:GetClusterCredentialsWithIAM for a cluster, or redshift-serverless:GetCredentials for a workgroup.'
    return new ConnectorError('permission_denied', message)
  }
  if (/^ClusterNotFound|^ResourceNotFound|^EndpointNotFound/.test(code)) {
    return new ConnectorError(
      'invalid_address',
      'AWS knows no cluster or workgroup with this endpoint. Correct the host.',
    )
  }
  if (/^Throttling/.test(code)) return connectorErrorOfStatus('Redshift', { ...answer, status: 429 })
  return connectorErrorOfStatus('Redshift', answer)
}

const invalid = (message: string) => new ConnectorError('invalid_setting', message)
