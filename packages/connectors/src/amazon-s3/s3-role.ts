import { type ConnectorContext, ConnectorError, type Redact, type Values } from '@penstock/connector'
import { AwsV4Signer } from 'aws4fetch'
import { isRoleArn } from '../aws/role-arn.ts'
import {
  type AwsCredentials,
  type AwsSession,
  codeIn,
  type KeptSession,
  keepSession,
  sessionIn,
  stsUrl,
} from '../aws/sts.ts'
import { errorTextOf, problemName, textOf, transientErrorOf } from '../object-stores/answers.ts'

/** AWS limits sessions to this duration if one role assumes another. */
const durationSeconds = 3600

/**
 * Assumes an IAM role with an access key (`AssumeRole` of the Security Token Service), and again before its credentials expire.
 * @param key the key that signs `AssumeRole`
 * @param place the region, and the address of a compatible store, which answers `AssumeRole` itself
 * @param redact removes the secrets of the key
 * @returns a function that returns the credentials of the role: the same until they must be replaced, or until they are
 * reported as refused
 */
export function assumeRole(
  { secrets, egress, signal }: ConnectorContext,
  key: AwsCredentials,
  place: () => { readonly region: string; readonly endpoint: URL | undefined },
  redact: Redact,
): KeptSession {
  const begin = async (): Promise<AwsSession> => {
    const { region, endpoint } = place()
    const service = endpoint ? endpoint.host : 'AWS'
    const url = endpoint?.href ?? stsUrl(region)
    const body = new URLSearchParams({
      Action: 'AssumeRole',
      Version: '2011-06-15',
      RoleArn: roleIn(secrets) ?? '',
      RoleSessionName: 'penstock',
      DurationSeconds: String(durationSeconds),
      ...(typeof secrets.externalId === 'string' ? { ExternalId: secrets.externalId.trim() } : {}),
    }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
    const signer = new AwsV4Signer({ ...key, method: 'POST', region, service: 'sts', url, headers, body })
    const signed = await signer.sign()
    const response = await egress.request(signed.url.href, {
      method: 'POST',
      headers: Object.fromEntries(signed.headers),
      body,
      signal,
    })
    if (!response.ok) throw await refusal(response, service, redact)
    return sessionIn(await textOf(response), 'AssumeRole', service)
  }
  return keepSession(begin)
}

/** The role in the settings. `undefined` if there is none. Throws `invalid_setting` if it is not a valid role. */
export function roleIn({ roleArn }: Values): string | undefined {
  if (typeof roleArn !== 'string') return undefined
  const role = roleArn.trim()
  if (isRoleArn(role)) return role
  const message = 'The role ARN is none; it has the form arn:aws:iam::123456789012:role/Name.'
  throw new ConnectorError('invalid_setting', message)
}

async function refusal(response: Response, service: string, redact: Redact): Promise<ConnectorError> {
  const passing = transientErrorOf(service, response)
  const code = problemName(codeIn(await errorTextOf(response), service), redact)
  if (code === 'Throttling' || code === 'ThrottlingException') {
    return new ConnectorError('rate_limited', `${service} limits the rate of AssumeRole.`)
  }
  if (passing) return passing
  if (code === 'AccessDenied') {
    const message = `${service} does not let the access key take on the role. Name its user in the trust policy of the role, allow it sts:AssumeRole, and compare the external ID.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (code === 'ExpiredToken') {
    return new ConnectorError('expired_credentials', 'The session of the access key has ended. Set a new key.')
  }
  if (code === 'RegionDisabledException') {
    return new ConnectorError(
      'invalid_address',
      'The Security Token Service is off in this region. Set another region.',
    )
  }
  if (/^(InvalidClientTokenId|SignatureDoesNotMatch|InvalidAccessKeyId|IncompleteSignature)$/.test(code)) {
    const message = `${service} does not accept the access key: its ID is not known, or the secret is another key's. Set both again.`
    return new ConnectorError('invalid_credentials', message)
  }
  const what = `status ${response.status}${code ? `, ${code}` : ''}`
  return new ConnectorError(
    'request_refused',
    `${service} refused AssumeRole (${what}). Check the role and the external ID.`,
  )
}
