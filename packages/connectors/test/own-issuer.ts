import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { TrustedIssuer } from './federation.ts'

/** The identity of a sub-account, as the service issues it, for tests of one connector. */
export async function makeOwnIssuer() {
  const issuer = 'https://penstock.example.com'
  const subject = 'penstock:0a0a0a0a0a0a0a0a:0b0b0b0b0b0b0b0b'
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const keys = { keys: [{ ...(await exportJWK(publicKey)), alg: 'RS256' }] }
  const trusted: TrustedIssuer = {
    issuer,
    read: async (url) => (url.endsWith('openid-configuration') ? { issuer, jwks_uri: `${issuer}/keys` } : keys),
  }
  const identityToken = (audience: string): Promise<string> =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(issuer)
      .setSubject(subject)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey)
  return { issuer, subject, trusted, identityToken }
}
