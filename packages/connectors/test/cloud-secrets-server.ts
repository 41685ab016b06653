import { createHash, createHmac, type KeyObject } from 'node:crypto'
import { jwtVerify } from 'jose'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/** The parts of the secret managers of three clouds that read a secret, each with its way to sign in. */

export type CloudSecrets = PlatformServer & { readonly secrets: Map<string, string> }

const textOf = (received: Received, name: string): string => String(received.headers[name] ?? '')

// --- AWS

export const awsOfTests = {
  accessKeyId: 'AKIDEXAMPLEOFTESTS',
  secretAccessKey: 'canary/wJalrXUtnFEMI/K7MDENG',
  roleArn: 'arn:aws:iam::123456789012:role/penstock',
  session: { id: 'ASIAEXAMPLEOFTESTS', secret: 'canary/session-secret', token: 'canary//session+token==' },
}

/**
 * AWS Secrets Manager and the Security Token Service in a region, by their API references. Signatures are verified by the
 * description of Signature Version 4.
 */
export async function startAwsSecrets(region: string): Promise<
  CloudSecrets & {
    /** The names of sessions so far. */
    readonly sessions: string[]
    readonly forbidden: Set<string>
    /** Web identity tokens that the role trusts. */
    readonly trusted: Set<string>
    expireSessions(): void
  }
> {
  const secrets = new Map<string, string>()
  const forbidden = new Set<string>()
  const sessions: string[] = []
  const state = { isExpired: false }
  const trusted = new Set<string>()
  const refused = (status: number, type: string, message: string): Reply => ({
    status,
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': '7a4e3d2c' },
    text: JSON.stringify({ __type: type, message }),
  })
  const sts = ({ text }: Received): Reply => {
    const form = new URLSearchParams(text)
    const token = form.get('WebIdentityToken') ?? ''
    const xml = (status: number, body: string): Reply => ({
      status,
      headers: { 'content-type': 'text/xml' },
      text: `<?xml version="1.0"?>\n${body}`,
    })
    const error = (status: number, code: string, message: string) =>
      xml(
        status,
        `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>c6104cbe</RequestId></ErrorResponse>`,
      )
    if (form.get('Action') !== 'AssumeRoleWithWebIdentity') return error(400, 'InvalidAction', 'Could not find it')
    if (!trusted.has(token)) return error(400, 'InvalidIdentityToken', `No OpenIDConnect provider found for ${token}`)
    if (form.get('RoleArn') !== awsOfTests.roleArn) {
      return error(403, 'AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity')
    }
    const name = form.get('RoleSessionName') ?? ''
    sessions.push(name)
    state.isExpired = false
    const { id, secret, token: session } = awsOfTests.session
    return xml(
      200,
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><SubjectFromWebIdentityToken>sub</SubjectFromWebIdentityToken><Audience>sts.amazonaws.com</Audience><AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/penstock/${name}</Arn><AssumedRoleId>AROA:${name}</AssumedRoleId></AssumedRoleUser><Credentials><SessionToken>${session}</SessionToken><SecretAccessKey>${secret}</SecretAccessKey><Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration><AccessKeyId>${id}</AccessKeyId></Credentials><Provider>arn:aws:iam::123456789012:oidc-provider/example</Provider></AssumeRoleWithWebIdentityResult><ResponseMetadata><RequestId>ad4156e9</RequestId></ResponseMetadata></AssumeRoleWithWebIdentityResponse>`,
    )
  }
  const platform = await startPlatform((received) => {
    if (/x-www-form-urlencoded/.test(textOf(received, 'content-type'))) return sts(received)
    const { id, secret, token } = awsOfTests.session
    const isSession = textOf(received, 'x-amz-security-token') === token
    if (isSession && state.isExpired) return refused(400, 'ExpiredTokenException', 'The security token is expired')
    const key = isSession ? { id, secret } : { id: awsOfTests.accessKeyId, secret: awsOfTests.secretAccessKey }
    const signature = signatureProblem(received, key, region, 'secretsmanager')
    if (signature) return refused(400, ...signature)
    if (textOf(received, 'x-amz-target') !== 'secretsmanager.GetSecretValue') {
      return refused(400, 'UnknownOperationException', '')
    }
    const name = String((received.json as { SecretId?: unknown }).SecretId ?? '')
    if (!/^[\w/+=.@:-]{1,2048}$/.test(name)) return refused(400, 'ValidationException', 'Invalid name')
    if (forbidden.has(name)) {
      const message = `User: arn:aws:iam::123456789012:user/penstock is not authorized to perform: secretsmanager:GetSecretValue on resource: ${name}`
      return refused(400, 'AccessDeniedException', message)
    }
    const value = secrets.get(name)
    if (value === undefined) {
      return refused(400, 'ResourceNotFoundException', "Secrets Manager can't find the specified secret.")
    }
    const arn = `arn:aws:secretsmanager:${region}:123456789012:secret:${name}-AbCdEf`
    const content = { ARN: arn, Name: name, SecretString: value, VersionId: 'e1', VersionStages: ['AWSCURRENT'] }
    return { headers: { 'content-type': 'application/x-amz-json-1.1' }, text: JSON.stringify(content) }
  })
  return {
    ...platform,
    secrets,
    sessions,
    forbidden,
    trusted,
    expireSessions: () => {
      state.isExpired = true
    },
  }
}

/** The problem of the signature of a request, by the description of Signature Version 4; undefined if it is right. */
export function signatureProblem(
  received: Received,
  key: { readonly id: string; readonly secret: string },
  region: string,
  service: string,
): [code: string, message: string] | undefined {
  const { method, path, headers, text, query } = received
  const authorization = textOf(received, 'authorization')
  const [, credential = '', signedHeaders = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(authorization) ?? []
  const date = textOf(received, 'x-amz-date')
  const [id, day = '', ...scope] = credential.split('/')
  if (id !== key.id) return ['UnrecognizedClientException', 'The security token included in the request is invalid.']
  if (!date.startsWith(day) || scope.join('/') !== `${region}/${service}/aws4_request`) {
    return ['InvalidSignatureException', 'Credential should be scoped to a valid region.']
  }
  const hash = (of: string) => createHash('sha256').update(of).digest('hex')
  const hmac = (secret: string | Buffer, of: string) => createHmac('sha256', secret).update(of).digest()
  const canonical = [
    method,
    path,
    [...query]
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .sort()
      .join('&'),
    ...signedHeaders.split(';').map((name) => `${name}:${String(headers[name] ?? '').trim()}`),
    '',
    signedHeaders,
    hash(text),
  ].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', date, [day, ...scope].join('/'), hash(canonical)].join('\n')
  const signing = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${key.secret}`, day))
  if (hmac(signing, toSign).toString('hex') === signature && signedHeaders.split(';').includes('host')) return undefined
  return ['InvalidSignatureException', 'The request signature we calculated does not match the signature you provided.']
}

// --- Google

/** Google Secret Manager with its token endpoint, whose assertions a test verifies. */
export async function startGoogleSecrets(): Promise<CloudSecrets & { readonly token: string; forbidden: Set<string> }> {
  const secrets = new Map<string, string>()
  const forbidden = new Set<string>()
  const token = 'ya29.canary-google-token'
  const refused = (code: number, status: string): Reply => ({
    status: code,
    json: { error: { code, message: 'It is refused.', status } },
  })
  const platform = await startPlatform((received) => {
    if (received.path === '/token') {
      return { json: { access_token: token, expires_in: 3599, token_type: 'Bearer' } }
    }
    if (textOf(received, 'authorization') !== `Bearer ${token}`) return refused(401, 'UNAUTHENTICATED')
    const [, name = '', version = ''] =
      /^\/v1\/(projects\/[^/]+\/secrets\/[^/]+)\/versions\/(latest|\d+):access$/.exec(received.path) ?? []
    if (name === '') return refused(404, 'NOT_FOUND')
    if (forbidden.has(name)) return refused(403, 'PERMISSION_DENIED')
    const value = secrets.get(name)
    if (value === undefined) return refused(404, 'NOT_FOUND')
    if (version === '9') return refused(400, 'FAILED_PRECONDITION')
    const number = version === 'latest' ? '3' : version
    const data = Buffer.from(value).toString('base64')
    return { json: { name: `${name}/versions/${number}`, payload: { data, dataCrc32c: '12345' } } }
  })
  return { ...platform, secrets, token, forbidden }
}

/** Whether an assertion of a service account is one that Google accepts. */
export const verifyAssertion = async (assertion: string, publicKey: KeyObject, issuer: string): Promise<boolean> =>
  jwtVerify(assertion, publicKey, { issuer, audience: 'https://oauth2.googleapis.com/token' }).then(
    ({ payload }) => payload.scope === 'https://www.googleapis.com/auth/cloud-platform',
    () => false,
  )

// --- Azure

export const azureOfTests = {
  tenantId: '6f3c2b10-0d4e-4856-9f1a-3f9c2b7a10d4',
  clientId: '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d',
  clientSecret: 'canary~azure-client-secret',
  assertion: 'canary.federated.token',
  vault: 'example-vault',
}

/** A vault of Azure, and the token endpoint of its tenant. */
export async function startAzureSecrets(): Promise<CloudSecrets & { forbidden: Set<string> }> {
  const secrets = new Map<string, string>()
  const forbidden = new Set<string>()
  const token = 'eyJ.canary-azure-token'
  const refused = (status: number, code: string, headers = {}): Reply => ({
    status,
    headers,
    json: { error: { code, message: 'It is refused.' } },
  })
  const { tenantId, clientId, clientSecret, assertion, vault } = azureOfTests
  const platform = await startPlatform((received) => {
    const form = new URLSearchParams(received.text)
    if (received.path === `/${tenantId}/oauth2/v2.0/token`) {
      const isRight =
        form.get('client_id') === clientId &&
        form.get('scope') === 'https://vault.azure.net/.default' &&
        form.get('grant_type') === 'client_credentials' &&
        (form.get('client_secret') === clientSecret ||
          (form.get('client_assertion') === assertion &&
            form.get('client_assertion_type') === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'))
      return isRight
        ? { json: { token_type: 'Bearer', expires_in: 3599, ext_expires_in: 3599, access_token: token } }
        : {
            status: 401,
            json: { error: 'invalid_client', error_description: `AADSTS7000215 ${form.get('client_secret')}` },
          }
    }
    if (textOf(received, 'authorization') !== `Bearer ${token}`) {
      return refused(401, 'Unauthorized', {
        'www-authenticate': `Bearer authorization="https://login.microsoftonline.com/${tenantId}", resource="https://vault.azure.net"`,
      })
    }
    if (!received.query.get('api-version')) return refused(400, 'BadParameter')
    const [, name = ''] = /^\/secrets\/([0-9a-zA-Z-]{1,127})\/?$/.exec(received.path) ?? []
    if (forbidden.has(name)) return refused(403, 'Forbidden')
    const value = secrets.get(name)
    if (value === undefined) return refused(404, 'SecretNotFound')
    const id = `https://${vault}.vault.azure.net/secrets/${name}/4387e9f3d6e14c459867679a90fd0f79`
    return { json: { value, id, attributes: { enabled: true, created: 1, updated: 1, recoveryLevel: 'Recoverable' } } }
  })
  return { ...platform, secrets, forbidden }
}
