import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { AwsV4Signer } from 'aws4fetch'
import { roleOfIdentity } from '../aws/web-identity.ts'
import { federatedTokens } from '../azure/federation.ts'
import { federatedAccount } from '../google/workload-identity.ts'
import type { Place } from './settings.ts'

/** Tokens of clouds that their databases take as passwords: they are valid for some minutes, and only to sign in. */

/** Amazon RDS accepts a token for this duration. */
const awsSeconds = 900

/** By the end of a host of Azure: where its cloud signs in, and whom the token is for. */
const azureClouds: readonly (readonly [hosts: string, login: string, scope: string])[] = [
  ['.database.azure.com', 'login.microsoftonline.com', 'https://ossrdbms-aad.database.windows.net/.default'],
  ['.database.chinacloudapi.cn', 'login.chinacloudapi.cn', 'https://ossrdbms-aad.database.chinacloudapi.cn/.default'],
  [
    '.database.usgovcloudapi.net',
    'login.microsoftonline.us',
    'https://ossrdbms-aad.database.usgovcloudapi.net/.default',
  ],
]

/**
 * A token of the cloud, which is the password of a new session.
 * @throws ConnectorError `invalid_setting`, and what the cloud refuses
 */
export async function tokenOf(context: ConnectorContext, place: Place): Promise<string> {
  const { signIn, tls } = place
  // A token is sent as it is, so an impostor could use it. A certificate of Cloud SQL does not name the host.
  if (tls !== 'verify-full' && !(tls === 'require' && signIn === 'google-iam')) {
    throw invalid('This sign-in method needs the TLS mode “Encrypted and verified”. Set it.')
  }
  if (signIn === 'aws-iam') return await tokenOfAws(context, place)
  if (signIn === 'google-iam') {
    return await federatedAccount(context, 'https://www.googleapis.com/auth/sqlservice.login').token()
  }
  const host = place.host.toLowerCase()
  const cloud = azureClouds.find(([hosts]) => host.endsWith(hosts))
  if (!cloud) {
    throw invalid(`Microsoft Entra ID signs in to hosts of Azure Database only, such as name${azureClouds[0]?.[0]}.`)
  }
  const [, login, scope] = cloud
  return await federatedTokens(context, scope, login).token()
}

/** https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.Connecting.html */
async function tokenOfAws(context: ConnectorContext, place: Place): Promise<string> {
  const host = place.host.toLowerCase()
  const [, region = regionInChina(host)] = /\.([a-z]{2}(?:-[a-z]+){1,3}-\d)\.rds\.amazonaws\.com$/.exec(host) ?? []
  if (region === undefined) {
    const message =
      'IAM signs in at the endpoint that Amazon RDS gave the database, such as name.abc123.eu-central-1.rds.amazonaws.com. Enter it as the host.'
    throw invalid(message)
  }
  const credentials = await roleOfIdentity(context, () => region).current()
  const url = new URL(`https://${host}:${place.port}/`)
  url.search = new URLSearchParams({
    Action: 'connect',
    DBUser: place.user,
    'X-Amz-Expires': String(awsSeconds),
  }).toString()
  const signer = new AwsV4Signer({
    method: 'GET',
    url: url.href,
    service: 'rds-db',
    region,
    signQuery: true,
    ...credentials,
  })
  const { url: signed } = await signer.sign()
  return signed.href.slice('https://'.length)
}

const regionInChina = (host: string): string | undefined => /\.rds\.(cn-[a-z]+-\d)\.amazonaws\.com\.cn$/.exec(host)?.[1]

const invalid = (message: string) => new ConnectorError('invalid_setting', message)
