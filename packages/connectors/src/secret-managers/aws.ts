import type { Egress } from '@penstock/connector'
import { AwsV4Signer } from 'aws4fetch'
import { assumeRoleWithWebIdentity, type KeptSession, keepSession } from '../aws/sts.ts'
import { type Answer, isSuccess } from '../platform-api/call.ts'
import { parseObject, textIn } from '../platform-api/json.ts'
import { ask, contentOf, managerContext, notAllowed, notFound, signedIn, unavailable, unexpected } from './answers.ts'
import type { AwsAccess, OpenedManager } from './manager-access.ts'

/** AWS Secrets Manager: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html */

const name = 'AWS Secrets Manager'

/** Opens the secrets of a region. A path is the name of a secret, or its ARN. */
export function openAws({ region, auth }: AwsAccess, egress: Egress): OpenedManager {
  const context = managerContext(egress)
  const url = `https://secretsmanager.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`
  const ofRole: KeptSession | undefined =
    auth.method === 'web-identity'
      ? keepSession(() =>
          assumeRoleWithWebIdentity(context, {
            region,
            roleArn: auth.roleArn,
            sessionName: 'penstock-secrets',
            token: () => contentOf(name, auth.tokenFile),
          }),
        )
      : undefined
  const credentials = async () =>
    auth.method === 'access-key'
      ? { accessKeyId: auth.accessKeyId, secretAccessKey: await contentOf(name, auth.secretAccessKeyFile) }
      : await (ofRole as KeptSession).current()

  const send = async (path: string): Promise<Answer> => {
    const body = JSON.stringify({ SecretId: path })
    const signer = new AwsV4Signer({
      ...(await signedIn(name, credentials)),
      method: 'POST',
      service: 'secretsmanager',
      region,
      url,
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': 'secretsmanager.GetSecretValue',
      },
      body,
    })
    const signed = await signer.sign()
    return ask(context, name, {
      url: signed.url.href,
      method: 'POST',
      headers: Object.fromEntries(signed.headers),
      body,
    })
  }

  return {
    async read(path) {
      let answer = await send(path)
      if (ofRole && codeOf(answer) === 'ExpiredTokenException') {
        ofRole.forget()
        answer = await send(path)
      }
      return secretIn(answer, path)
    },
  }
}

/** The name of an error, which may come with a namespace before it or an address after it. */
const codeOf = ({ text, status }: Answer): string =>
  status < 400 ? '' : (/^(?:.*#)?(\w+)(?::.*)?$/.exec(textIn(parseObject(text).__type) ?? '')?.[1] ?? '')

function secretIn(answer: Answer, path: string): string {
  if (isSuccess(answer)) {
    const { SecretString, SecretBinary } = parseObject(answer.text)
    if (typeof SecretString === 'string') return SecretString
    if (typeof SecretBinary === 'string') return Buffer.from(SecretBinary, 'base64').toString('utf8')
    throw unavailable(name, 'Its answer contains no secret.')
  }
  const code = codeOf(answer)
  switch (code) {
    case 'ResourceNotFoundException':
      throw notFound(`AWS Secrets Manager has no secret ${path} in this region. Create it, or correct the reference.`)
    case 'InvalidRequestException':
      throw notFound(`The secret ${path} in AWS Secrets Manager is scheduled for deletion, or has no value.`)
    case 'ValidationException':
    case 'InvalidParameterException':
      throw notFound(`AWS Secrets Manager does not accept ${path} as the name of a secret. Correct the reference.`)
    case 'AccessDeniedException':
    case 'DecryptionFailure':
      throw notAllowed(name, path)
    case 'UnrecognizedClientException':
    case 'InvalidSignatureException':
    case 'IncompleteSignature':
    case 'ExpiredTokenException':
      throw unavailable(name, `This service could not sign in. AWS does not accept the credentials (${code}).`)
    case 'ThrottlingException':
      throw unavailable(name, 'It limits the rate of requests.')
    default:
      throw unexpected(name, answer)
  }
}
