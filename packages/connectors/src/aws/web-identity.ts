import { asConnectorError, type ConnectorContext, ConnectorError } from '@penstock/connector'
import { decodeJwt } from 'jose'
import { isRoleArn } from './role-arn.ts'
import { assumeRoleWithWebIdentity, type KeptSession, keepSession } from './sts.ts'

/**
 * Takes on the role in the settings with the identity of the sub-account, without a stored key. The session is replaced before it
 * ends. Throws `invalid_setting` if the role is not valid.
 * @param region the region whose token service is asked
 */
export function roleOfIdentity(context: ConnectorContext, region: () => string): KeptSession {
  const roleArn = String(context.secrets.identityRoleArn ?? '').trim()
  if (!isRoleArn(roleArn)) {
    const message = 'The IAM role is not valid. It looks like arn:aws:iam::123456789012:role/Name.'
    throw new ConnectorError('invalid_setting', message)
  }
  return keepSession(async () => {
    const token = await context.identityToken(String(context.secrets.identityAudience || 'sts.amazonaws.com'))
    const { iss = '', sub = '', aud = '' } = decodeJwt(token)
    try {
      return await assumeRoleWithWebIdentity(context, {
        region: region(),
        roleArn,
        sessionName: sub.replace(/[^\w+=,.@-]/g, '-').slice(0, 64),
        token: async () => token,
      })
    } catch (error) {
      const refusal = asConnectorError(error)
      if (refusal?.code !== 'invalid_credentials') throw error
      const expected = `The role must trust the issuer ${iss} with the audience ${aud} and the subject ${sub}.`
      throw refusal.with({ message: `${refusal.message} ${expected}` })
    }
  })
}
