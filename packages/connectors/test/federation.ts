import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'
import type { S3Key } from './s3-signature.ts'

/** Token services of clouds, which verify tokens of an issuer as their documentation describes. */

/** The issuer that a cloud trusts. */
export type TrustedIssuer = {
  readonly issuer: string
  /** Reads a document of the issuer, as JSON. Throws if the issuer cannot be reached. */
  read(url: string): Promise<unknown>
  /** The clock of the cloud, in milliseconds. */
  now?: () => number
}

/** The problem of a token. */
export type TokenProblem = 'unreachable' | 'issuer' | 'signature' | 'audience' | 'expired'

/**
 * Verifies a token by the published keys of its issuer (OpenID Connect Core 1.0, section 3.1.3.7).
 * @returns its subject, or what is wrong
 */
export async function verifyToken(
  token: string,
  { issuer, read, now = Date.now }: TrustedIssuer,
  audiences: readonly string[],
): Promise<{ readonly subject: string } | { readonly problem: TokenProblem }> {
  try {
    if (decodeJwt(token).iss !== issuer) return { problem: 'issuer' }
  } catch {
    return { problem: 'signature' }
  }
  let keys: JSONWebKeySet
  try {
    const provider = (await read(`${issuer}/.well-known/openid-configuration`)) as Record<string, unknown>
    if (provider.issuer !== issuer) return { problem: 'issuer' }
    keys = (await read(String(provider.jwks_uri))) as JSONWebKeySet
  } catch {
    return { problem: 'unreachable' }
  }
  try {
    const options = { algorithms: ['RS256'], issuer, audience: [...audiences], currentDate: new Date(now()) }
    const required = ['sub', 'aud', 'exp', 'iat']
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), { ...options, requiredClaims: required })
    return { subject: payload.sub ?? '' }
  } catch (error) {
    const { code, claim } = error as { code?: string; claim?: string }
    if (code === 'ERR_JWT_EXPIRED') return { problem: 'expired' }
    return { problem: claim === 'aud' ? 'audience' : 'signature' }
  }
}

// --- AWS: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html

/** A role whose trust policy names one issuer, with the conditions `aud` and `sub`. */
export type AwsRole = { readonly arn: string; readonly audience: string; readonly subject: string }

export type AwsTokenService = PlatformServer & {
  /** The keys of the sessions so far. */
  readonly sessions: (S3Key & { readonly name: string })[]
  readonly roles: AwsRole[]
  /** Audiences (client IDs) of the identity provider in the AWS account. */
  readonly audiences: string[]
  /** How long sessions last. */
  sessionMs: number
}

/** The Security Token Service, with an identity provider for the issuer. */
export async function startAwsTokenService(trusted: TrustedIssuer): Promise<AwsTokenService> {
  const xml = (status: number, body: string): Reply => ({ status, headers: { 'content-type': 'text/xml' }, text: body })
  const namespace = 'xmlns="https://sts.amazonaws.com/doc/2011-06-15/"'
  const refused = (status: number, code: string, message: string) =>
    xml(
      status,
      `<ErrorResponse ${namespace}><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>4c6e9a</RequestId></ErrorResponse>`,
    )
  const answer = async ({ text, headers }: Received): Promise<Reply> => {
    const form = new URLSearchParams(text)
    const value = (name: string) => form.get(name) ?? ''
    if (value('Action') !== 'AssumeRoleWithWebIdentity' || value('Version') !== '2011-06-15') {
      return refused(400, 'InvalidAction', 'Could not find operation')
    }
    if (headers.authorization !== undefined) return refused(400, 'InvalidAction', 'This request must not be signed')
    const session = value('RoleSessionName')
    if (!/^[\w+=,.@-]{2,64}$/.test(session)) return refused(400, 'ValidationError', 'roleSessionName')
    if (!/^arn:aws:iam::\d{12}:role\//.test(value('RoleArn'))) return refused(400, 'ValidationError', 'roleArn')
    const token = value('WebIdentityToken')
    const verified = await verifyToken(token, trusted, service.audiences)
    if ('problem' in verified) {
      const problems = {
        unreachable: ['IDPCommunicationError', `The identity provider did not respond to ${token}`],
        issuer: ['InvalidIdentityToken', 'No OpenIDConnect provider found in your account'],
        signature: ['InvalidIdentityToken', `Couldn't verify ${token}`],
        audience: ['InvalidIdentityToken', 'Incorrect token audience'],
        expired: ['ExpiredTokenException', 'Token expired'],
      } as const
      const [code, message] = problems[verified.problem]
      return refused(400, code, message)
    }
    const { aud } = decodeJwt(token)
    const role = service.roles.find(({ arn }) => arn === value('RoleArn'))
    if (!role || role.subject !== verified.subject || role.audience !== aud) {
      return refused(403, 'AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity')
    }
    const number = service.sessions.length
    const key = {
      id: `ASIAOFTESTS${number}`,
      secret: `canary/session-secret/${number}`,
      token: `canary//token=${number}`,
    }
    service.sessions.push({ ...key, name: session })
    const ends = new Date(Date.now() + service.sessionMs).toISOString()
    return xml(
      200,
      `<AssumeRoleWithWebIdentityResponse ${namespace}><AssumeRoleWithWebIdentityResult><SubjectFromWebIdentityToken>${verified.subject}</SubjectFromWebIdentityToken><Audience>${aud}</Audience><AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/x/${session}</Arn><AssumedRoleId>AROA:${session}</AssumedRoleId></AssumedRoleUser><Credentials><SessionToken>${key.token}</SessionToken><SecretAccessKey>${key.secret}</SecretAccessKey><Expiration>${ends}</Expiration><AccessKeyId>${key.id}</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    )
  }
  const platform = await startPlatform(answer)
  const service: AwsTokenService = {
    ...platform,
    sessions: [],
    roles: [],
    audiences: ['sts.amazonaws.com'],
    sessionMs: 3_600_000,
  }
  return service
}
